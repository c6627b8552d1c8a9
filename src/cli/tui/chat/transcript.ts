/** A line in the scrollback. */
export interface TranscriptLine {
  id: number;
  kind: 'you' | 'answer' | 'note' | 'error';
  text: string;
  /** The first line of a message has a sign; the others are indented. */
  isFirst: boolean;
}

interface AppendOptions {
  /** Whether an empty line goes above. */
  isApart: boolean;
}

/** Everything that was printed, in order. */
export class Transcript {
  #lines: TranscriptLine[] = [];
  /** Added since `lines` was last called: long answers arrive in very many pieces. */
  #added: TranscriptLine[] = [];
  #count = 0;

  append(kind: TranscriptLine['kind'], texts: readonly string[], { isApart }: AppendOptions): void {
    const isNew = isApart || this.lastKind() !== kind;
    if (isApart && this.#count > 0) this.#add(kind, '', false);
    for (const [at, text] of texts.entries()) this.#add(kind, text, isNew && at === 0);
  }

  lastKind(): TranscriptLine['kind'] | undefined {
    return (this.#added.at(-1) ?? this.#lines.at(-1))?.kind;
  }

  /** The same array until there are more lines. */
  lines(): TranscriptLine[] {
    if (this.#added.length > 0) {
      this.#lines = [...this.#lines, ...this.#added];
      this.#added = [];
    }
    return this.#lines;
  }

  #add(kind: TranscriptLine['kind'], text: string, isFirst: boolean): void {
    this.#count += 1;
    this.#added.push({ id: this.#count, kind, text, isFirst });
  }
}
