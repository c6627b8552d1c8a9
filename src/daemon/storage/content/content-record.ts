import type { RemovedKind } from '../../../shared/masking/redaction-kinds.ts';
import type { AskedContent, AttemptView, ContentSelection } from '../../features/capture/index.ts';

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
  /** What was removed from its texts; absent in earlier records. */
  redacted?: RemovedKind[];
  /** The answer as it was received and sent; absent unless that was wanted. */
  wire?: { received: StoredText | null; sent: StoredText | null; isCut: boolean };
  /** JSON: milliseconds, bytes and characters of each read of a stream, one after another. */
  reads: StoredText | null;
}

export function isSelected(
  { requestId, workspaceId, keyId, user, at }: ContentRecord,
  selection: ContentSelection,
): boolean {
  return (
    workspaceId === selection.workspaceId &&
    (selection.keyId === undefined || keyId === selection.keyId) &&
    (selection.user === undefined || user === selection.user) &&
    (selection.before === undefined || at < selection.before) &&
    (selection.requestIds === undefined || selection.requestIds.has(requestId))
  );
}

/** All texts of a record, in the order in which they were stored. */
export function textsOf({ body, attempts, answer, reads, wire }: ContentRecord): StoredText[] {
  const sent = attempts.flatMap((attempt) => [attempt.body, attempt.refusal]);
  const raw = [wire?.received ?? null, wire?.sent ?? null];
  return [body, ...sent, answer, reads, ...raw].filter((text) => text !== null);
}
