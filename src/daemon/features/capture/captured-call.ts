import { keptHeadersIn } from '../../../shared/kept-headers.ts';
import type { CallCapture } from '../calls/index.ts';
import type { AttemptCapture, SentRequest } from '../upstreams/upstream.ts';
import type { AskedContent, AttemptContent, ContentStore } from './store.ts';

/** The most of an answer that is kept, in characters, and of the times at which it was read. */
const answerCharactersMax = 8 * 1024 * 1024;
const readsMax = 4_096;

export interface CapturedCallOptions {
  store: Pick<ContentStore, 'asked' | 'answered'>;
  asked: Omit<AskedContent, 'attempts'>;
  elapsed: () => number;
  /** Whether a trace of this rejected call is recorded. */
  wasRecorded: (requestId: string) => boolean;
}

/** Collects the content of one call, as references to what the call has anyway, and hands it to the store. */
export class CapturedCall implements CallCapture {
  readonly #options: Omit<CapturedCallOptions, 'asked'>;
  readonly #requestId: string;
  readonly #startedAt: number;
  readonly #attempts: AttemptContent[] = [];
  /** Undefined once it was handed over: a stream may run for long. */
  #asked: CapturedCallOptions['asked'] | undefined;
  #isStream = false;
  #document: string | Uint8Array | undefined;
  #texts: string[] = [];
  #characters = 0;
  #isCut = false;
  #reads: number[] = [];
  #isOver = false;

  constructor({ asked, ...options }: CapturedCallOptions) {
    this.#options = options;
    this.#requestId = asked.requestId;
    this.#asked = asked;
    this.#startedAt = options.elapsed();
  }

  sent(provider: string, { url, headers, body }: SentRequest): AttemptCapture {
    const attempt: AttemptContent = {
      provider,
      url,
      headers,
      body,
      status: null,
      received: [],
      refusal: undefined,
    };
    this.#attempts.push(attempt);
    return {
      received(answer) {
        attempt.status = answer.status;
        attempt.received = keptHeadersIn(answer.headers);
      },
      refused(text) {
        attempt.refusal = text;
      },
    };
  }

  started(): void {
    this.#isStream = true;
    this.#handOver();
  }

  answered(content: string | Uint8Array): void {
    if (!this.#isStream || typeof content !== 'string') {
      this.#document = content;
      return;
    }
    if (this.#characters + content.length > answerCharactersMax) {
      this.#isCut = true;
      return;
    }
    this.#characters += content.length;
    this.#texts.push(content);
    const reads = this.#reads;
    if (reads.length < 2 * readsMax) {
      reads.push(Math.round((this.#options.elapsed() - this.#startedAt) * 10) / 10, content.length);
    } else {
      reads[reads.length - 1] = (reads[reads.length - 1] as number) + content.length;
    }
  }

  rejected(): void {
    // Without a trace, no one would find it; and a flood of rejected calls must not replace the content of others.
    if (this.#options.wasRecorded(this.#requestId)) this.ended();
    else this.#isOver = true;
  }

  ended(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handOver();
    this.#options.store.answered({
      requestId: this.#requestId,
      answer: this.#isStream ? this.#texts.join('') : this.#document,
      isStream: this.#isStream,
      reads: this.#reads,
      isCut: this.#isCut,
    });
  }

  #handOver(): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    this.#asked = undefined;
    this.#options.store.asked({ ...asked, attempts: this.#attempts });
  }
}
