import { formatPassages, type Passage } from '../../content/conversation-text.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import type { RenderOptions } from './render-options.ts';

interface ConversationLines {
  lines: string[];
  /** The index of the line where the last turn begins: what the user said last, with all that followed. */
  lastTurn: number;
  /** Whether the system prompt is too long to be shown unless it is unfolded. */
  hasFolds: boolean;
}

const foldedLines = 3;
/** Fewer lines more are not worth a fold. */
const foldedMore = 3;

/** A conversation as wrapped lines, with its system prompt folded. */
export function conversationLines(
  passages: readonly Passage[],
  { width, paint, isUnfolded = false }: Pick<RenderOptions, 'width' | 'paint' | 'isUnfolded'>,
): ConversationLines {
  let hasFolds = false;
  const shown = passages.map((passage) => {
    if (passage.role !== 'system' && passage.role !== 'developer') return passage;
    const lines = wrapped(passage.text.trimEnd(), width);
    const left = lines.length - foldedLines;
    if (left <= foldedMore) return passage;
    hasFolds = true;
    if (isUnfolded) return passage;
    return { ...passage, text: [...lines.slice(0, foldedLines), `[${left} more lines, folded]`].join('\n') };
  });
  const asked = shown.findLastIndex(({ role }) => role === 'user');
  const from = asked < 0 ? 0 : shown.findLastIndex(({ role }, at) => at < asked && role !== 'user') + 1;
  const linesOf = (some: readonly Passage[]) =>
    some.length === 0 ? [] : wrapped(formatPassages(some, paint).trimEnd(), width);
  const before = linesOf(shown.slice(0, from));
  const gap = before.length === 0 ? [] : [''];
  return {
    lines: [...before, ...gap, ...linesOf(shown.slice(from))],
    lastTurn: before.length + gap.length,
    hasFolds,
  };
}

function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '  '), width));
}
