import { useSignal } from '@preact/signals';
import { count } from '../../view/numbers.ts';

const childrenMax = 100;
const stringMax = 300;

/** A JSON value whose members open on demand, so that only what is open is on the page. */
export function JsonTree({ value, name }: { value: unknown; name?: string }) {
  const isOpen = useSignal(name === undefined);
  const shown = useSignal(childrenMax);
  if (typeof value !== 'object' || value === null) return <Leaf value={value} name={name} />;
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return (
    <details
      class="json"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>
        {name !== undefined && <span class="json-name">{name}: </span>}
        {open}
        <span class="quiet"> {entries.length} </span>
        {close}
      </summary>
      {isOpen.value &&
        entries
          .slice(0, shown.value)
          .map(([key, member]) => <JsonTree key={key} name={key} value={member} />)}
      {isOpen.value && entries.length > shown.value && (
        <button
          type="button"
          onClick={() => {
            shown.value += childrenMax * 10;
          }}
        >
          {entries.length - shown.value} more
        </button>
      )}
    </details>
  );
}

function Leaf({ value, name }: { value: unknown; name: string | undefined }) {
  const isWhole = useSignal(false);
  const text = JSON.stringify(value) ?? 'undefined';
  const isLong = text.length > stringMax && !isWhole.value;
  return (
    <div class="json">
      {name !== undefined && <span class="json-name">{name}: </span>}
      <span class={`json-${value === null ? 'null' : typeof value}`}>
        {isLong ? `${text.slice(0, stringMax)}…` : text}
      </span>
      {isLong && (
        <button
          type="button"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          all {count(text.length)} characters
        </button>
      )}
    </div>
  );
}
