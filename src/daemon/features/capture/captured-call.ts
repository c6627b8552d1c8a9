import type { ApiError } from '../../../shared/errors.ts';
import { keptHeadersIn } from '../../../shared/masking/mask-headers.ts';
import type { CallCapture } from '../calls/index.ts';
import type { AttemptCapture, SentRequest } from '../upstreams/upstream.ts';
import type { AskedContent, AttemptContent, ContentStore, WireContent } from './store.ts';

/** The most of an answer that is kept, in characters, and of the times at which it was read. */
const answerCharactersMax = 8 * 1024 * 1024;
const readsMax = 4_096;
/** The most of an answer that is kept as it was received, and as it was sent, in characters each. */
const wireCharactersMax = 1024 * 1024;
/** Of a stream, more is handed over before its end. */
const heldCharactersMax = 32 * 1024;

export interface CapturedCallOptions {
  store: Pick<ContentStore, 'asked' | 'streamed' | 'answered'>;
  asked: Omit<AskedContent, 'attempts'>;
  elapsed: () => number;
  /** The body of an error, as the client of this call gets it. */
  errorText: (error: ApiError) => string;
  /** Whether the answer is also kept as it was received and sent. */
  isWire: boolean;
  /** Whether a trace of this rejected call is recorded. */
  wasRecorded: (requestId: string) => boolean;
}

/** Collects the content of one call, as references to what the call has anyway, and hands it to the store. */
export class CapturedCall implements CallCapture {
  readonly level: AskedContent['level'];
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
  #heldCharacters = 0;
  #isCut = false;
  #reads: number[] = [];
  #readCount = 0;
  #isOver = false;
  /** Of the last attempt. */
  #received: WireText | undefined;
  readonly #sent: WireText | undefined;

  constructor({ asked, ...options }: CapturedCallOptions) {
    this.#options = options;
    this.#requestId = asked.requestId;
    this.#asked = asked;
    this.level = asked.level;
    this.#startedAt = options.elapsed();
    if (options.isWire) this.#sent = new WireText();
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
    const wire = this.#options.isWire ? new WireText() : undefined;
    this.#received = wire;
    return {
      received(answer) {
        attempt.status = answer.status;
        attempt.received = keptHeadersIn(answer.headers);
      },
      refused(text) {
        attempt.refusal = text;
      },
      read: wire && ((bytes) => wire.addBytes(bytes)),
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
    this.#sent?.add(content);
    if (this.#isCut || this.#characters + content.length > answerCharactersMax) {
      this.#isCut = true;
      return;
    }
    this.#characters += content.length;
    this.#heldCharacters += content.length;
    this.#texts.push(content);
    const reads = this.#reads;
    if (this.#readCount < readsMax || reads.length === 0) {
      this.#readCount += 1;
      reads.push(Math.round((this.#options.elapsed() - this.#startedAt) * 10) / 10, content.length);
    } else {
      reads[reads.length - 1] = (reads[reads.length - 1] as number) + content.length;
    }
    if (this.#heldCharacters >= heldCharactersMax) this.#handOverStream();
  }

  failed(error: ApiError): void {
    this.#document = this.#options.errorText(error);
  }

  rejected(error: ApiError | undefined): void {
    // Without a trace, no one would find it; and a flood of rejected calls must not replace the content of others.
    if (!this.#options.wasRecorded(this.#requestId)) {
      this.#isOver = true;
      return;
    }
    if (error) this.failed(error);
    this.ended();
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
      wire: this.#options.isWire ? wireOf(this.#received, this.#sent) : undefined,
    });
  }

  #handOverStream(): void {
    const piece = { requestId: this.#requestId, events: this.#texts.join(''), reads: this.#reads };
    this.#texts = [];
    this.#reads = [];
    this.#heldCharacters = 0;
    // What follows a gap would not be what was answered.
    if (!this.#options.store.streamed(piece)) this.#isCut = true;
  }

  #handOver(): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    this.#asked = undefined;
    this.#options.store.asked({ ...asked, attempts: this.#attempts });
  }
}

/** Text up to a length. */
class WireText {
  readonly #decoder = new TextDecoder();
  #text = '';
  #isCut = false;

  get text(): string {
    return this.#text;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  addBytes(bytes: Uint8Array): void {
    if (!this.#isCut) this.add(this.#decoder.decode(bytes, { stream: true }));
  }

  add(text: string): void {
    if (this.#isCut) return;
    this.#isCut = this.#text.length + text.length > wireCharactersMax;
    this.#text += text.slice(0, wireCharactersMax - this.#text.length);
  }
}

function wireOf(received: WireText | undefined, sent: WireText | undefined): WireContent {
  return {
    received: received?.text ?? '',
    sent: sent?.text ?? '',
    isCut: (received?.isCut ?? false) || (sent?.isCut ?? false),
  };
}
