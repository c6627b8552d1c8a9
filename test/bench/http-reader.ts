/** A reader's callbacks for each message; a body comes in pieces as they arrive. */
export interface MessageSink {
  /** The start line and the headers, without the empty line. */
  onHead(head: string): void;
  onBody(piece: Buffer): void;
  onEnd(): void;
}

type State = 'head' | 'body' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

/**
 * Reads the HTTP/1.1 messages of one connection, requests or answers, sized or chunked (RFC 9112, sections 6 and 7).
 * It trusts its peer: a bench reads both ends with it because node:http would cost more than what is measured.
 */
export class HttpReader {
  readonly #sink: MessageSink;
  #state: State = 'head';
  #left = 0;
  #held: Buffer | undefined;

  constructor(sink: MessageSink) {
    this.#sink = sink;
  }

  push(bytes: Buffer): void {
    const all = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = undefined;
    let at = 0;
    while (at < all.length) {
      const next = this.#step(all, at);
      if (next === undefined) {
        this.#held = all.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Returns where reading continues, or undefined when the next step needs more bytes. */
  #step(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'body':
      case 'chunk':
        return this.#readBody(bytes, at);
      case 'chunk-size':
        return this.#readSize(bytes, at);
      case 'chunk-end':
        if (bytes.length < at + 2) return undefined;
        this.#state = 'chunk-size';
        return at + 2;
      case 'trailer':
        return this.#readTrailer(bytes, at);
    }
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1');
    if (end < 0) return undefined;
    const head = bytes.toString('latin1', at, end);
    this.#sink.onHead(head);
    if (/^transfer-encoding: *chunked/im.test(head)) this.#state = 'chunk-size';
    else {
      this.#left = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (this.#left === 0) this.#end();
      else this.#state = 'body';
    }
    return end + 4;
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length);
    this.#left -= end - at;
    this.#sink.onBody(bytes.subarray(at, end));
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'chunk-end';
      else this.#end();
    }
    return end;
  }

  #readSize(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf('\r\n', at, 'latin1');
    if (end < 0) return undefined;
    this.#left = Number.parseInt(bytes.toString('latin1', at, end), 16);
    this.#state = this.#left === 0 ? 'trailer' : 'chunk';
    return end + 2;
  }

  #readTrailer(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf('\r\n', at, 'latin1');
    if (end < 0) return undefined;
    if (end === at) this.#end();
    return end + 2;
  }

  #end(): void {
    this.#state = 'head';
    this.#sink.onEnd();
  }
}
