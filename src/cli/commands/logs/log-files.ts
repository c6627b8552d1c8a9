import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { logFiles } from '../../../shared/folders.ts';

/** Reads all complete lines of the log, oldest first, and returns a follower for later ones. */
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

/** Reads lines added to a file, even if it is rotated or does not exist yet. */
export class Follower {
  readonly #path: string;
  #handle: number | undefined;
  #partial = '';
  #decoder = new StringDecoder('utf8');

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the lines completed since the last call. */
  read(): string[] {
    const lines = this.#rest();
    if (!this.#isMoved()) return lines;
    // Lines written before the rotation are still in the old file.
    lines.push(...this.#rest());
    this.close();
    this.#open();
    return [...lines, ...this.#rest()];
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
    this.#partial = '';
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
    let text = this.#partial;
    for (;;) {
      const length = readSync(this.#handle, chunk);
      if (length === 0) break;
      text += this.#decoder.write(chunk.subarray(0, length));
    }
    const end = text.lastIndexOf('\n') + 1;
    this.#partial = text.slice(end);
    return linesIn(text.slice(0, end));
  }
}
