import type { AskedContent, AttemptView } from '../../features/capture/index.ts';

/** A text as the parts that it consists of. */
export interface StoredText {
  bytes: number;
  /** Ids of the parts, in their order. */
  parts: number[];
}

export interface StoredAttempt extends Omit<AttemptView, 'body' | 'refusal'> {
  body: StoredText | null;
  refusal: StoredText | null;
}

/** The content of one call, as it is stored. */
export interface ContentRecord extends Omit<AskedContent, 'headers' | 'body' | 'attempts'> {
  /** Of later calls it is higher. */
  number: number;
  headers: string[];
  body: StoredText | null;
  attempts: StoredAttempt[];
  answer: StoredText | null;
  isStream: boolean;
  isCut: boolean;
  isComplete: boolean;
  /** JSON: milliseconds, bytes and characters of each read of a stream, one after another. */
  reads: StoredText | null;
}

/** All texts of a record, in the order in which they were stored. */
export function textsOf({ body, attempts, answer, reads }: ContentRecord): StoredText[] {
  const sent = attempts.flatMap((attempt) => [attempt.body, attempt.refusal]);
  return [body, ...sent, answer, reads].filter((text) => text !== null);
}
