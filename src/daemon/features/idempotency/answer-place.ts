import type { RelayReply } from '../../handler.ts';
import type { KeptAnswer, KeyClaim, PlacedAnswer } from './idempotency-store.ts';

/** A longer answer is given and not kept, in bytes. */
const answerBytesMax = 16 * 1024 * 1024;

/**
 * Where the answer of a call with a key is kept. Whoever charges for the call takes it from here, to keep both in one
 * transaction: a daemon that dies between the two would have the call charged again when it is sent again.
 */
export class AnswerPlace {
  readonly #claim: Pick<KeyClaim, 'scope' | 'key'>;
  #kept: { reply: RelayReply; answer: KeptAnswer } | undefined;

  constructor({ scope, key }: Pick<KeyClaim, 'scope' | 'key'>) {
    this.#claim = { scope, key };
  }

  /** What is to be written with the settlement; undefined for an answer that is too long to be kept. */
  take(reply: RelayReply): PlacedAnswer | undefined {
    const answer = keptAnswer(reply);
    if (answer.body.length > answerBytesMax) return undefined;
    this.#kept = { reply, answer };
    return { ...this.#claim, ...answer };
  }

  /** The answer that is given, and how it has yet to be kept: `done` when it was, with the settlement. */
  judge(reply: RelayReply): { answer: KeptAnswer; state: 'done' | 'to-keep' | 'too-long' } {
    if (this.#kept?.reply === reply) return { answer: this.#kept.answer, state: 'done' };
    const answer = keptAnswer(reply);
    return { answer, state: answer.body.length > answerBytesMax ? 'too-long' : 'to-keep' };
  }
}

function keptAnswer({ headers, body }: RelayReply): KeptAnswer {
  return { headers, body: typeof body === 'string' ? Buffer.from(body) : body };
}
