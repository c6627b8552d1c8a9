import { connect, type Socket } from 'node:net';
import { HttpReader } from './http-reader.ts';
import { PatternCounter } from './pattern-counter.ts';
import { clockUs, endMarks, stampDigits, tokenMarks, type Wire } from './wires.ts';

/** What one request came to. Times are milliseconds. */
export interface Answered {
  /** Why it is no good answer, such as `status 503`. */
  fault: string | undefined;
  tokens: number;
  firstTokenMs: number | undefined;
  transitsMs: number[];
}

export interface ExchangeOptions {
  port: number;
  wire: Wire;
  streamTokens: number | undefined;
  isStamped: boolean;
}

/** One connection, with one request at a time. It connects again when it was closed. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #request: Buffer;
  #socket: Socket | undefined;
  #done: ((answered: Answered) => void) | undefined;
  #reader: HttpReader;
  #status = 0;
  /** Whether the server refuses more requests on this connection. */
  #isLast = false;
  #sentUs = 0;
  #answered: Answered = noAnswer();
  #tokens = new PatternCounter(' ');
  #ends = new PatternCounter(' ');

  constructor(options: ExchangeOptions, request: Buffer) {
    this.#options = options;
    this.#request = request;
    this.#reader = this.#newReader();
  }

  /** Resolves when connected; a port that refuses fails. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#options.port, host: '127.0.0.1', noDelay: true });
      this.#socket = socket;
      this.#reader = this.#newReader();
      socket.once('connect', resolve);
      socket.once('error', reject);
      socket.on('data', (bytes) => this.#reader.push(bytes));
      socket.on('close', () => this.#lost(socket));
    });
  }

  /** Calls `done` once, in any case. */
  send(done: (answered: Answered) => void): void {
    this.#done = done;
    this.#status = 0;
    this.#answered = noAnswer();
    this.#tokens = new PatternCounter(tokenMarks[this.#options.wire]);
    this.#ends = new PatternCounter(endMarks[this.#options.wire]);
    this.#sentUs = clockUs();
    if (this.#socket) this.#socket.write(this.#request);
    else
      this.open().then(
        () => this.#socket?.write(this.#request),
        () => this.#finish({ isWhole: false }),
      );
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.destroy();
  }

  #newReader(): HttpReader {
    return new HttpReader({
      onHead: (head) => {
        this.#status = Number(head.slice(9, 12));
        this.#isLast = this.#status !== 200 && /^connection: *close/im.test(head);
      },
      onBody: (piece) => {
        if (this.#options.streamTokens !== undefined) this.#readStream(piece, this.#options.streamTokens);
      },
      onEnd: () => {
        // The server closes it, which can take a while to be seen here.
        if (this.#isLast) this.#socket = undefined;
        this.#finish({ isWhole: true });
      },
    });
  }

  #readStream(piece: Buffer, expected: number): void {
    const nowUs = clockUs();
    this.#tokens.push(
      piece,
      this.#options.isStamped ? (end) => this.#readStamp(piece, end, nowUs) : undefined,
    );
    if (this.#answered.firstTokenMs === undefined && this.#tokens.count > 0)
      this.#answered.firstTokenMs = (nowUs - this.#sentUs) / 1000;
    if (this.#tokens.count >= expected) this.#ends.push(piece);
  }

  #readStamp(piece: Buffer, at: number, nowUs: number): void {
    const stampUs = Number(piece.toString('latin1', at, at + stampDigits));
    if (stampUs > 0) this.#answered.transitsMs.push((nowUs - stampUs) / 1000);
  }

  #finish({ isWhole }: { isWhole: boolean }): void {
    const done = this.#done;
    if (!done) return;
    this.#done = undefined;
    const { streamTokens } = this.#options;
    const isStreamWhole =
      streamTokens === undefined || (this.#tokens.count === streamTokens && this.#ends.count > 0);
    if (this.#status !== 200 && this.#status !== 0) this.#answered.fault = `status ${this.#status}`;
    else if (!isWhole || !isStreamWhole) this.#answered.fault = 'not whole';
    this.#answered.tokens = this.#tokens.count;
    done(this.#answered);
  }

  #lost(socket: Socket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#finish({ isWhole: false });
  }
}

function noAnswer(): Answered {
  return { fault: undefined, tokens: 0, firstTokenMs: undefined, transitsMs: [] };
}
