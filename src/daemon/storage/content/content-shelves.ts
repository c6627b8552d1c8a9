import type { AskedContent } from '../../features/capture/index.ts';
import type { ContentNumbers } from './content-numbers.ts';
import type { ContentRecord } from './content-record.ts';
import type { ContentShelf } from './content-shelf.ts';

export interface Located {
  shelf: ContentShelf;
  record: ContentRecord;
}

/** The shelves of all levels. */
export class ContentShelves {
  readonly numbers: ContentNumbers;
  readonly #memory: ContentShelf;
  /** Undefined without a file. */
  readonly #disk: () => ContentShelf | undefined;

  constructor(options: {
    numbers: ContentNumbers;
    memory: ContentShelf;
    disk: () => ContentShelf | undefined;
  }) {
    this.numbers = options.numbers;
    this.#memory = options.memory;
    this.#disk = options.disk;
  }

  of(level: AskedContent['level']): ContentShelf | undefined {
    return level === 'memory' ? this.#memory : this.#disk();
  }

  all(): ContentShelf[] {
    return [this.#memory, this.#disk()].filter((shelf) => shelf !== undefined);
  }

  find(requestId: string): Located | undefined {
    for (const shelf of this.all()) {
      const record = shelf.find(requestId);
      if (record !== undefined) return { shelf, record };
    }
    return undefined;
  }

  /** Calls of all shelves, the newest first. */
  *newestFirst(workspaceId: string, before?: number): Iterable<Located> {
    const sources = this.all().map((shelf) => {
      const records = shelf.newestFirst(workspaceId, before)[Symbol.iterator]();
      return { shelf, records, next: records.next() };
    });
    for (;;) {
      const [newest] = sources
        .filter(({ next }) => !next.done)
        .sort((a, b) => (b.next.value?.number ?? 0) - (a.next.value?.number ?? 0));
      if (newest === undefined) return;
      const { shelf } = newest;
      yield { shelf, record: newest.next.value };
      newest.next = newest.records.next();
    }
  }
}
