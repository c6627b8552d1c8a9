import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { logFiles } from '../../../shared/folders.ts';

/** Every whole line of the log, the oldest first, and what follows them. */
export function readLog(folder: string): { lines: string[]; follower: Follower } {
  const [newest = '', ...older] = logFiles(folder);
  const old = older.toReversed().flatMap((path) => linesIn(textOf(path)));
  const follower = new Follower(newest);
  return { lines: [...old, ...follower.read()], follower };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

const chunk = Buffer.alloc(64 * 1024);

/** Reads what was added to a file since, also when another one took its name, and when there was none yet. */
export class Follower {
  readonly #path: string;
  #handle: number | undefined;
  #begun = '';
  #decoder = new StringDecoder('utf8');

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines that are whole by now. */
  read(): string[] {
    const lines = this.#rest();
    if (!this.#isMoved()) return lines;
    // What was written between the look and the move is still in the old one.
    lines.push(...this.#rest());
    this.close();
    this.#open();
    return [...lines, ...this.#rest()];
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
    this.#begun = '';
    this.#decoder = new StringDecoder('utf8');
  }

  #open(): void {
    try {
      this.#handle = openSync(this.#path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #isMoved(): boolean {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    if (this.#handle === undefined) return now !== undefined;
    return now !== undefined && now.ino !== fstatSync(this.#handle).ino;
  }

  #rest(): string[] {
    if (this.#handle === undefined) return [];
    let text = this.#begun;
    for (;;) {
      const length = readSync(this.#handle, chunk);
      if (length === 0) break;
      text += this.#decoder.write(chunk.subarray(0, length));
    }
    const end = text.lastIndexOf('\n') + 1;
    this.#begun = text.slice(end);
    return linesIn(text.slice(0, end));
  }
}
