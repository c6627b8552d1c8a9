/** The standard streams of a command. */
export interface Io {
  stdout: Writer;
  stderr: Writer;
  stdin: Reader;
  /** Width of the terminal in characters. */
  columns(): number;
  /** Height of the terminal in lines. */
  rows(): number;
}

/** Whether arguments are a lone `-`, which stands for standard input. */
export function isStdin(words: readonly string[]): boolean {
  return words.length === 1 && words[0] === '-';
}

export interface Writer {
  write(data: string | Uint8Array): unknown;
  isTty: boolean;
}

export interface Reader {
  isTty: boolean;
  /** Reads all input. */
  read(): Promise<Uint8Array>;
  /** Reads a line without its line end; undefined at the end of the input. */
  readLine(): Promise<string | undefined>;
  /** Like `readLine`, without echo; also undefined when the signal is aborted. */
  readHidden(signal?: AbortSignal): Promise<string | undefined>;
  /** Yields lines as they arrive, without their line ends. */
  lines(): AsyncIterable<string>;
}
