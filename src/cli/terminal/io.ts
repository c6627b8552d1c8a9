/** The three streams of a command, and what is at their other ends. */
export interface Io {
  stdout: Writer;
  stderr: Writer;
  stdin: Reader;
  /** Width of the terminal in characters. */
  columns(): number;
}

export interface Writer {
  write(text: string): unknown;
  isTty: boolean;
}

export interface Reader {
  isTty: boolean;
  /** All of it; empty when nothing comes. */
  read(): Promise<Uint8Array>;
  /** One line that a person typed, without its end; undefined when the input ended first. */
  readLine(): Promise<string | undefined>;
  /** The same without showing what is typed; undefined too when the signal is aborted first. */
  readHidden(signal?: AbortSignal): Promise<string | undefined>;
  /** Line after line, as they come, without their ends. */
  lines(): AsyncIterable<string>;
}
