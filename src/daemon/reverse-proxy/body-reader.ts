import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerText } from './headers.ts';

/** The longest body that is kept in memory; longer ones are forwarded as they come. */
const bytesMax = 256 * 1024;

/** Whether a request has no body. */
export function isBodyless({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] === undefined && !Number(headers['content-length']);
}

/** The body of a request to the proxy, which is read before the request is forwarded only if its payment depends on it. */
export class BodyReader {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #isAwaited: boolean;
  #bytes: Buffer | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    this.#isAwaited = /^100-continue$/i.test(headerText(request.headers.expect));
  }

  /** What was read. */
  get bytes(): Buffer | undefined {
    return this.#bytes;
  }

  /** Lets a client that waits for `100 Continue` send its body. */
  accept(): void {
    if (this.#isAwaited) this.#response.writeContinue();
    this.#isAwaited = false;
  }

  /** Undefined if the body is too long, of unknown length, or breaks off. */
  async read(): Promise<Buffer | undefined> {
    if (this.#bytes !== undefined) return this.#bytes;
    const request = this.#request;
    if (isBodyless(request)) return Buffer.alloc(0);
    if (!(Number(request.headers['content-length']) <= bytesMax)) return undefined;
    this.accept();
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return undefined;
    }
    this.#bytes = Buffer.concat(chunks);
    return this.#bytes;
  }
}
