import { diffArrays, diffLines, diffWordsWithSpace } from 'diff';

/** A piece of a line. */
export interface WordChange {
  change: 'same' | 'added' | 'removed';
  text: string;
}

export interface LineChange {
  change: 'same' | 'added' | 'removed';
  text: string;
  /** Of a line that replaces another one, or is replaced: what of it changed. */
  words?: WordChange[];
}

/** Lines that changed, with some around them. */
export interface Hunk {
  /** The first line in the text before, and in the text after; from 1. */
  before_line: number;
  after_line: number;
  lines: LineChange[];
}

/** Where texts have little in common, a comparison takes long and shows nothing. */
const maxEditLength = 2_000;
const contextLines = 2;
const wordsCharactersMax = 2_000;

/** What changed between two texts, by line and within lines by word. */
export function textChanges(before: string, after: string): Hunk[] {
  return hunksOf(withWords(linesOf(before, after)));
}

/** All lines of a text as one change. */
export function wholeText(change: 'added' | 'removed', text: string): Hunk[] {
  return [{ before_line: 1, after_line: 1, lines: splitLines(text).map((line) => ({ change, text: line })) }];
}

/** Which elements two lists have in common, by their keys; each with its index. */
export function alignedKeys(
  before: readonly string[],
  after: readonly string[],
): { change: 'same' | 'added' | 'removed'; count: number }[] {
  const changes = diffArrays([...before], [...after], { maxEditLength });
  if (changes === undefined)
    return [
      { change: 'removed', count: before.length },
      { change: 'added', count: after.length },
    ];
  return changes.map((one) => ({ change: changeOf(one), count: one.value.length }));
}

function linesOf(before: string, after: string): LineChange[] {
  // Otherwise a line at the end differs from the same line that others follow.
  const changes = diffLines(ended(before), ended(after), { maxEditLength });
  if (changes === undefined)
    return [...wholeText('removed', before), ...wholeText('added', after)].flatMap(({ lines }) => lines);
  return changes.flatMap((one) =>
    splitLines(one.value).map((text): LineChange => ({ change: changeOf(one), text })),
  );
}

function changeOf({ added, removed }: { added: boolean; removed: boolean }): WordChange['change'] {
  if (added) return 'added';
  return removed ? 'removed' : 'same';
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** As many removed lines as are added after them are pairs. */
function withWords(lines: readonly LineChange[]): LineChange[] {
  const compared: LineChange[] = [];
  let at = 0;
  while (at < lines.length) {
    const removed = runOf(lines, at, 'removed');
    const added = runOf(lines, at + removed.length, 'added');
    if (removed.length + added.length === 0) {
      compared.push(lines[at] as LineChange);
      at += 1;
      continue;
    }
    const pairs = removed.map((line, index) => pairOf(line, added[index]));
    compared.push(...pairs.map(([line]) => line), ...added.map((line, index) => pairs[index]?.[1] ?? line));
    at += removed.length + added.length;
  }
  return compared;
}

function runOf(lines: readonly LineChange[], from: number, change: LineChange['change']): LineChange[] {
  let end = from;
  while (lines[end]?.change === change) end += 1;
  return lines.slice(from, end);
}

function pairOf(
  removed: LineChange,
  added: LineChange | undefined,
): [removed: LineChange, added: LineChange | undefined] {
  if (added === undefined || removed.text.length + added.text.length > wordsCharactersMax)
    return [removed, added];
  const words = diffWordsWithSpace(removed.text, added.text, { maxEditLength });
  if (words === undefined || !words.some((word) => !word.added && !word.removed && /\w/.test(word.value)))
    return [removed, added];
  const changes = words.map((word) => ({ change: changeOf(word), text: word.value }));
  return [
    { ...removed, words: changes.filter(({ change }) => change !== 'added') },
    { ...added, words: changes.filter(({ change }) => change !== 'removed') },
  ];
}

/** Leaves out what is the same, but for a few lines around each change. */
function hunksOf(lines: readonly LineChange[]): Hunk[] {
  const hunks: Hunk[] = [];
  let last = -1;
  const line = { before: 1, after: 1 };
  const starts = lines.map(({ change }) => {
    const start = { ...line };
    if (change !== 'added') line.before += 1;
    if (change !== 'removed') line.after += 1;
    return start;
  });
  lines.forEach(({ change }, at) => {
    if (change === 'same') return;
    const from = Math.max(last + 1, at - contextLines);
    const to = endOfContext(lines, at);
    const current = hunks.at(-1);
    if (current && from === last + 1) current.lines.push(...lines.slice(from, to));
    else {
      const { before, after } = starts[from] as typeof line;
      hunks.push({ before_line: before, after_line: after, lines: lines.slice(from, to) });
    }
    last = Math.max(last, to - 1);
  });
  return hunks;
}

/** Up to the next change, as that one has its own context. */
function endOfContext(lines: readonly LineChange[], at: number): number {
  let end = at + 1;
  while (end < lines.length && end <= at + contextLines && lines[end]?.change === 'same') end += 1;
  return end;
}
