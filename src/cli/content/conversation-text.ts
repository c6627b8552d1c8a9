import { stripVTControlCharacters } from 'node:util';
import { blockText, type Conversation } from '../../view/conversation.ts';
import type { Paint } from '../output/style.ts';

/** One side of a conversation, as text. */
export interface Passage {
  role: string;
  text: string;
}

/** A conversation as text; calls of tools, images and the like as one line each. */
export function textPassages({ passages }: Conversation): Passage[] {
  return passages.flatMap(({ role, blocks }) =>
    blocks.map((block) => ({
      role: block.kind === 'reasoning' ? 'reasoning' : role,
      text: blockText(block),
    })),
  );
}

/** Removes terminal commands and other control characters but line ends and tabs. */
function withoutControls(text: string): string {
  return stripVTControlCharacters(text.replace(/\r\n?/g, '\n')).replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => (character === '\n' || character === '\t' ? character : ''),
  );
}

/** Passages under their roles. Neighbours of the same role share a heading. */
export function formatPassages(passages: readonly Passage[], paint: Paint): string {
  let role = '';
  const blocks = passages.map((passage) => {
    const text = `${withoutControls(passage.text).trimEnd()}\n`;
    if (passage.role === role) return text;
    const gap = role === '' ? '' : '\n';
    role = passage.role;
    return `${gap}${paint('bold', withoutControls(role))}\n${text}`;
  });
  return blocks.join('');
}
