import type {
  AnsweredContent,
  AskedContent,
  ContentStore,
  StreamedContent,
} from '../../features/capture/index.ts';
import { alone, sizeOf } from './content-bytes.ts';
import type { Captured } from './content-messages.ts';

/** The most that the main thread has yet to take, in bytes. */
const queuedBytesMax = 4 * 1024 * 1024;
/** What a call takes besides its texts, about. */
const callBytes = 1_000;

type Relay = (message: { captured: Captured; bytes: number; dropped: number }) => void;

/** Hands the content of a worker’s calls to the main thread, whose store keeps it. What comes faster than it is taken is dropped. */
export class RelayedContent implements Pick<ContentStore, 'isFull' | 'asked' | 'streamed' | 'answered'> {
  readonly #relay: Relay;
  #queuedBytes = 0;
  /** Calls that were dropped since the last message. */
  #dropped = 0;

  constructor(relay: Relay) {
    this.#relay = relay;
  }

  isFull(): boolean {
    const isFull = this.#queuedBytes > queuedBytesMax;
    if (isFull) this.#dropped += 1;
    return isFull;
  }

  asked({ body, attempts, ...call }: AskedContent): void {
    const content = {
      ...call,
      body: alone(body),
      attempts: attempts.map((attempt) => ({ ...attempt, body: alone(attempt.body) })),
    };
    const bytes = content.attempts.reduce((sum, attempt) => sum + sizeOf(attempt.body), sizeOf(content.body));
    this.#send({ asked: content }, bytes);
  }

  streamed(content: StreamedContent): boolean {
    if (this.isFull()) return false;
    this.#send({ streamed: content }, content.events.length);
    return true;
  }

  answered({ answer, ...call }: AnsweredContent): void {
    const content = { ...call, answer: alone(answer) };
    this.#send({ answered: content }, sizeOf(content.answer));
  }

  /** The main thread has taken as many bytes. */
  taken(bytes: number): void {
    this.#queuedBytes -= bytes;
  }

  #send(captured: Captured, textBytes: number): void {
    const bytes = callBytes + textBytes;
    this.#queuedBytes += bytes;
    this.#relay({ captured, bytes, dropped: this.#dropped });
    this.#dropped = 0;
  }
}

/** Keeps what workers hand over. */
export function relayedContentTaker(store: Pick<ContentStore, 'asked' | 'streamed' | 'answered'>) {
  /** Streams of which a part was dropped: what follows a gap would not be what was answered. */
  const cut = new Set<string>();
  return (captured: Captured): void => {
    if ('asked' in captured) store.asked(captured.asked);
    else if ('streamed' in captured) {
      const { requestId } = captured.streamed;
      if (cut.has(requestId) || !store.streamed(captured.streamed)) cut.add(requestId);
    } else {
      const { answered } = captured;
      const isCut = cut.delete(answered.requestId);
      store.answered(isCut ? { ...answered, answer: '', reads: [], isCut } : answered);
    }
  };
}
