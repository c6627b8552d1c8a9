import { existsSync } from 'node:fs';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { ContentFileUnusable, deleteContentFile } from './content-file.ts';
import { DiskShelf, type DiskShelfOptions, NoSpaceForContent } from './disk-shelf.ts';

/** After a failure, the file is tried again. */
const retryMs = 60_000;

interface ContentDiskOptions extends DiskShelfOptions {
  /** Reports what concerns the operator, as a sentence. */
  warn: (message: string) => void;
}

/** Opens the file when it is needed, and survives whatever is wrong with it. */
export class ContentDisk {
  readonly #options: ContentDiskOptions;
  #shelf: DiskShelf | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ContentDiskOptions) {
    this.#options = options;
  }

  /** For reads: undefined if there is no file, or it cannot be read. */
  existing(): DiskShelf | undefined {
    return this.#shelf !== undefined || existsSync(this.#options.file) ? this.shelf() : undefined;
  }

  /** Creates the file if it is missing; undefined while it cannot be used. */
  shelf(): DiskShelf | undefined {
    const { file, warn } = this.#options;
    if (this.#shelf?.isInPlace === false) {
      warn(`${file} was moved or deleted: the content that it kept is lost, and a new file is begun`);
      this.close();
    }
    if (this.#shelf === undefined && performance.now() - this.#failedAt >= retryMs) {
      try {
        this.#shelf = this.#open();
      } catch (error) {
        this.failed(error);
      }
    }
    return this.#shelf;
  }

  /** What was being stored is lost. A damaged file is replaced by a new one: of no other use, it would only be kept for ever. */
  failed(error: unknown): void {
    const { file, warn } = this.#options;
    if (error instanceof NoSpaceForContent || codeOf(error) === 'SQLITE_FULL') {
      // What is kept can still be read.
      warn('the disk is nearly full: the content of calls is not kept until it has space again; calls go on');
    } else if (isUnreadable(error)) {
      warn(
        `${file} cannot be read (${messageOf(error)}): the content that it kept is lost, and a new file is begun`,
      );
      this.close();
      deleteContentFile(file);
    } else {
      this.#pause();
      warn(
        `${file} cannot be written (${messageOf(error)}): content is not kept until it can be; calls go on`,
      );
    }
  }

  close(): void {
    try {
      this.#shelf?.close();
    } catch {
      // What could not be written is lost anyway.
    }
    this.#shelf = undefined;
  }

  /** Deletes the file. */
  destroy(): void {
    this.close();
    deleteContentFile(this.#options.file);
  }

  #open(): DiskShelf {
    try {
      return new DiskShelf(this.#options);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.failed(error);
      return new DiskShelf(this.#options);
    }
  }

  #pause(): void {
    this.#failedAt = performance.now();
    this.close();
  }
}

function isUnreadable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    error instanceof ContentFileUnusable || code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB'
  );
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
