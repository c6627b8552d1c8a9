import { useSignal } from '@preact/signals';
import { count } from '../../view/numbers.ts';

const firstMax = 8_000;
const pieceMax = 256 * 1024;

/** A text that may be long: its beginning, and more on demand. */
export function LongText({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const shown = useSignal(firstMax);
  const rest = text.length - shown.value;
  return (
    <>
      <div class={isCode ? 'long-text code' : 'long-text'} dir="auto">
        {rest > 0 ? text.slice(0, shown.value) : text}
      </div>
      {rest > 0 && (
        <button
          type="button"
          onClick={() => {
            shown.value += pieceMax;
          }}
        >
          Show {rest > pieceMax ? 'more' : 'the rest'} ({count(rest)} characters)
        </button>
      )}
    </>
  );
}
