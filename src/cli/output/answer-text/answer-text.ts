/** The text of an answer as it arrives, as lines for a terminal. Control characters are made visible. */
export interface AnswerText {
  /** Adds a piece of the answer; returns the lines that no longer change. */
  push(piece: string, width: number): string[];
  /** The lines that still change. */
  readonly growing: readonly string[];
  /** The remaining lines. */
  end(): string[];
}
