import { useSignal } from '@preact/signals';
import { change, draft } from './draft.ts';
import { type Turn, turnsIn, withoutTurn, withText, withTurns } from './turns.ts';

/** The last messages are shown at first. */
const shownTurns = 4;
const rowsMax = 10;

/** The messages of a request, one below the other, to be edited, removed and continued. */
export function TurnFields() {
  const { endpoint, body } = draft.value;
  const isWhole = useSignal(false);
  const turns = turnsIn(endpoint, body);
  const canAdd = endpoint !== '/v1/embeddings';
  const first = isWhole.value ? 0 : Math.max(0, (turns?.length ?? 0) - shownTurns);
  const add = () => {
    const role = turns === undefined || turns.at(-1)?.role === 'user' ? 'assistant' : 'user';
    change({ body: withTurns(endpoint, body, [{ role, text: '' }]) });
  };
  return (
    <>
      {first > 0 && (
        <button
          type="button"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          Show {first} earlier {first === 1 ? 'message' : 'messages'}
        </button>
      )}
      {turns?.slice(first).map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message is where it is.
        <TurnField key={first + index} at={first + index} turn={turn} />
      ))}
      {canAdd && (
        <button type="button" class="add-turn" onClick={add}>
          + Message
        </button>
      )}
    </>
  );
}

function TurnField({ at, turn: { role, text } }: { at: number; turn: Turn }) {
  const { endpoint, body } = draft.value;
  const name = `${role} ${at + 1}`;
  return (
    <div class="turn-field">
      <p class="turn-role">
        <span>{role}</span>
        <button
          type="button"
          aria-label={`Remove message ${at + 1}`}
          onClick={() => change({ body: withoutTurn(endpoint, body, at) })}
        >
          ✕
        </button>
      </p>
      {text === undefined ? (
        <p class="quiet">Not a plain text: see the whole request.</p>
      ) : (
        <textarea
          aria-label={name}
          rows={Math.min(rowsMax, Math.max(2, text.split('\n').length, Math.ceil(text.length / 50)))}
          value={text}
          onInput={({ currentTarget }) =>
            change({ body: withText(endpoint, draft.value.body, at, currentTarget.value) })
          }
        />
      )}
    </div>
  );
}
