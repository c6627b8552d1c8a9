/** The standard streams of a command. */
export interface Io {
  stdout: Writer;
  stderr: Writer;
  stdin: Reader;
  /** The output streams for a command that must not end with their readers. */
  lasting(): LastingStreams;
  /** Width of the terminal in characters. */
  columns(): number;
  /** Height of the terminal in lines. */
  rows(): number;
}

/** Streams to which a write neither fails nor waits. */
export interface LastingStreams {
  stdout: Writer;
  stderr: Writer;
  /** Waits a moment for readers; if they do not read the rest, the process exits with the given code. */
  close(exit: number): Promise<void>;
}

/** Whether arguments are a lone `-`, which stands for standard input. */
export function isStdin(words: readonly string[]): boolean {
  return words.length === 1 && words[0] === '-';
}

export interface Writer {
  write(data: string | Uint8Array): unknown;
  isTty: boolean;
}

export interface LineOptions {
  prompt: string;
  /** Drops what was typed before the prompt, which does not answer it: `y` and Enter were meant for something else. */
  isFresh?: boolean;
}

export interface Reader {
  isTty: boolean;
  /** Reads all input. */
  read(): Promise<Uint8Array>;
  /** Reads a line without its line end, after a prompt on stderr; undefined at the end of the input and after Ctrl-C. */
  readLine(options: LineOptions): Promise<string | undefined>;
  /** Like `readLine`, without echo, after a prompt on stderr; also undefined when the signal is aborted. */
  readHidden(prompt: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Yields lines as they arrive, without their line ends. */
  lines(): AsyncIterable<string>;
}
