/** A line that is printed for good. */
export interface PrintedLine {
  id: number;
  kind: 'you' | 'answer' | 'note' | 'fault';
  text: string;
  /** Whether it begins what somebody says; further lines of it are set in. */
  isFirst: boolean;
}

/** Everything that was printed, in order. */
export class Printer {
  #lines: PrintedLine[] = [];
  /** Printed since the array was made last: long answers come in very many pieces. */
  #fresh: PrintedLine[] = [];
  #count = 0;

  /** With an empty line above where it is to stand apart. */
  print(kind: PrintedLine['kind'], texts: readonly string[], { isApart }: { isApart: boolean }): void {
    const isNew = isApart || this.lastKind() !== kind;
    if (isApart && this.#count > 0) this.#add(kind, '', false);
    for (const [at, text] of texts.entries()) this.#add(kind, text, isNew && at === 0);
  }

  lastKind(): PrintedLine['kind'] | undefined {
    return (this.#fresh.at(-1) ?? this.#lines.at(-1))?.kind;
  }

  /** The same array until there are more. */
  lines(): PrintedLine[] {
    if (this.#fresh.length > 0) {
      this.#lines = [...this.#lines, ...this.#fresh];
      this.#fresh = [];
    }
    return this.#lines;
  }

  #add(kind: PrintedLine['kind'], text: string, isFirst: boolean): void {
    this.#count += 1;
    this.#fresh.push({ id: this.#count, kind, text, isFirst });
  }
}
