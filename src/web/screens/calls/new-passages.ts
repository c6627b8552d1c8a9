import type { Passage } from '../../../view/conversation.ts';

/** What a conversation has said so far; each call repeats it, or a part of it. */
export class SaidPassages {
  readonly #said = new Set<string>();

  /** The passages of a request after the last one that was there before. */
  newIn(passages: readonly Passage[]): Passage[] {
    const lastSaid = passages.findLastIndex((passage) => this.#said.has(keyOf(passage)));
    const added = passages.slice(lastSaid + 1);
    this.add(passages);
    return added;
  }

  add(passages: readonly Passage[]): void {
    for (const passage of passages) this.#said.add(keyOf(passage));
  }
}

/** Clients send an answer back without its reasoning, and trim it. */
function keyOf({ role, blocks }: Passage): string {
  const texts = blocks
    .filter(({ kind }) => kind !== 'reasoning')
    .map(({ text, name }) => [name, text.trim()]);
  return JSON.stringify([role, texts]);
}
