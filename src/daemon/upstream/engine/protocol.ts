/** Messages between the daemon and the process of a model. */

export interface LoadMessage {
  type: 'load';
  /** The library's main module, as a file URL. */
  library: string;
  /** The model's file. */
  path: string;
  /** The longest input and output together, in tokens. */
  contextTokens: number;
  /** The process ends itself above this. */
  memoryBytes: number;
}

/** The requests that a process accepts. */
export type Work = 'chat' | 'decide' | 'digest';

export type ToModel = LoadMessage | { type: 'ask'; id: number; work: Work; body: unknown } | CancelMessage;

interface CancelMessage {
  type: 'cancel';
  id: number;
}

/** What a loaded model reports about itself. */
export interface ModelFacts {
  architecture: string;
  /** The longest input and output together that it was trained for, in tokens. */
  trainedTokens: number;
}

/** An answer is written like one of HTTP: a status, text in pieces, and its end. */
export type FromModel =
  | { type: 'loaded'; facts: ModelFacts }
  /** The process cannot go on and ends itself; `reason` is the end of a sentence. */
  | { type: 'failed'; reason: string }
  | { type: 'head'; id: number; status: number; contentType: string }
  | { type: 'data'; id: number; text: string }
  | { type: 'end'; id: number };

/** The body of `decide`: questions about a document, whose options are shown in the given order. */
export interface DecideBody {
  document: string;
  questions: readonly { instruction: string; options: readonly string[] }[];
}

/** The answer to `decide`. */
export interface DecideAnswer {
  /** By question and option. */
  probabilities: number[][];
  inputTokens: number;
  outputTokens: number;
}

/** The answer to `digest`. */
export interface DigestAnswer {
  /** SHA-256 of the file, in hex. */
  sha256: string;
}
