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
  #kept: KeptAnswer | undefined;

  constructor({ scope, key }: Pick<KeyClaim, 'scope' | 'key'>) {
    this.#claim = { scope, key };
  }

  /** What is to be written with the settlement; undefined for an answer that is too long to be kept. */
  take(reply: RelayReply): PlacedAnswer | undefined {
    const answer = keptAnswer(reply);
    if (answer.body.length > answerBytesMax) return undefined;
    this.#kept = answer;
    return { ...this.#claim, ...answer };
  }

  /** How the answer that is given has to be kept: `done` when it was, with the settlement. */
  judge(answer: KeptAnswer): 'done' | 'to-keep' | 'too-long' {
    if (answer.body.length > answerBytesMax) return 'too-long';
    return this.#kept && isSame(this.#kept, answer) ? 'done' : 'to-keep';
  }
}

export function keptAnswer({ headers, body }: RelayReply): KeptAnswer {
  return { headers, body: typeof body === 'string' ? Buffer.from(body) : body };
}

function isSame(one: KeptAnswer, other: KeptAnswer): boolean {
  const isEqual = Buffer.compare(one.body, other.body) === 0;
  return isEqual && JSON.stringify(one.headers) === JSON.stringify(other.headers);
}
