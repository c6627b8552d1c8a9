import type { RelayReply } from '../../base/handler.ts';
import type { KeyClaim, SlotAnswer, StoredAnswer } from './store.ts';

/** Longer answers are returned but not stored, in bytes. */
const answerBytesMax = 16 * 1024 * 1024;

/**
 * Holds the answer of a call with an Idempotency-Key. The settlement of the call records it, so that charge and answer are
 * stored in one transaction: if the daemon died between the two, a retry would be charged again.
 */
export class IdempotencySlot {
  readonly #claim: Pick<KeyClaim, 'scope' | 'key'>;
  readonly #sealed: (answer: StoredAnswer) => StoredAnswer;
  #headers: Record<string, string> = {};
  #recorded: { reply: RelayReply; answer: StoredAnswer } | undefined;

  /** `sealed` returns an answer as it may be stored. */
  constructor(
    { scope, key }: Pick<KeyClaim, 'scope' | 'key'>,
    sealed: (answer: StoredAnswer) => StoredAnswer,
  ) {
    this.#claim = { scope, key };
    this.#sealed = sealed;
  }

  /** The answer will be sent with these headers, too: the receipt of a payment. */
  addHeaders(headers: Record<string, string>): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  /** Returns the answer to write with the settlement; undefined if it is too long to store. */
  record(reply: RelayReply): SlotAnswer | undefined {
    const answer = storedAnswer(reply.withHeaders(this.#headers));
    if (answer.body.length > answerBytesMax) return undefined;
    this.#recorded = { reply, answer };
    return { ...this.#claim, ...this.#sealed(answer) };
  }

  /** Returns the answer and whether to store it: `done` if the settlement has stored it. */
  decide(reply: RelayReply): { answer: StoredAnswer; state: 'done' | 'to-store' | 'too-long' } {
    if (this.#recorded?.reply.body === reply.body) return { answer: this.#recorded.answer, state: 'done' };
    const answer = storedAnswer(reply);
    return { answer, state: answer.body.length > answerBytesMax ? 'too-long' : 'to-store' };
  }
}

function storedAnswer({ headers, body }: RelayReply): StoredAnswer {
  return { headers, body: typeof body === 'string' ? Buffer.from(body) : body };
}
