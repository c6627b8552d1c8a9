import { stripVTControlCharacters } from 'node:util';
import type { Paint } from '../../output/style.ts';

/** The indexes of the lines that contain a text, in any letter case; styles do not count. */
export function linesWith(lines: readonly string[], text: string): number[] {
  const wanted = text.toLowerCase();
  if (wanted === '') return [];
  return lines.flatMap((line, at) => (plainText(line).toLowerCase().includes(wanted) ? [at] : []));
}

/** The line that is found from one line on, itself included; beyond the last match the first follows. */
export function nextMatch(
  matches: readonly number[],
  { from, by }: { from: number; by: 1 | -1 },
): number | undefined {
  return by > 0
    ? (matches.find((at) => at >= from) ?? matches[0])
    : (matches.findLast((at) => at <= from) ?? matches.at(-1));
}

/** A line with its matches in reverse video, without other styles; a line without a match stays as it is. */
export function withMatches(line: string, text: string, paint: Paint): string {
  const wanted = text.toLowerCase();
  const plain = plainText(line);
  const lower = plain.toLowerCase();
  // Some letters have another length in lower case, so that positions would differ.
  if (wanted === '' || !lower.includes(wanted) || lower.length !== plain.length) return line;
  let shown = '';
  let at = 0;
  for (let found = lower.indexOf(wanted); found >= 0; found = lower.indexOf(wanted, at)) {
    shown += plain.slice(at, found) + paint('inverse', plain.slice(found, found + wanted.length));
    at = found + wanted.length;
  }
  return shown + plain.slice(at);
}

function plainText(line: string): string {
  return line.includes('\u001b') ? stripVTControlCharacters(line) : line;
}
