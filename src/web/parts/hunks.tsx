import type { Hunk, LineChange } from '../../shared/comparison/text-changes.ts';

const linesMax = 400;
const signs = { same: ' ', added: '+', removed: '−' } as const;
const words = { same: undefined, added: 'added', removed: 'removed' } as const;

/** What changed in a text: by line, and within lines by word. */
export function Hunks({ hunks }: { hunks: readonly Hunk[] }) {
  let left = linesMax;
  return (
    <>
      {hunks.map(({ before_line: line, lines }) => {
        const shown = lines.slice(0, Math.max(0, left));
        left -= lines.length;
        if (shown.length === 0) return null;
        return (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
          <pre key={line} class="hunk" tabIndex={0}>
            {shown.map((one, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines do not change.
              <Line key={at} line={one} />
            ))}
          </pre>
        );
      })}
      {left < 0 && <p class="quiet">{-left} further lines are not shown.</p>}
    </>
  );
}

const lineMax = 2_000;

function Line({ line: { change, text, words: pieces } }: { line: LineChange }) {
  return (
    <span class={`hunk-line ${change}`}>
      <span class="hunk-sign">{signs[change]}</span>
      {words[change] && <span class="for-readers">{words[change]}: </span>}
      {pieces
        ? pieces.map((piece, at) =>
            piece.change === 'same' ? (
              piece.text
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: words do not change.
              <mark key={at}>{piece.text}</mark>
            ),
          )
        : text.slice(0, lineMax)}
      {text.length > lineMax && '…'}
      {'\n'}
    </span>
  );
}
