import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerText } from './headers.ts';

/** The longest body that is kept in memory; longer ones are forwarded as they come. */
const bytesMax = 256 * 1024;

type Headed = Pick<IncomingMessage, 'headers'>;

/** Whether a request has no body. */
export function isBodyless({ headers }: Headed): boolean {
  return headers['transfer-encoding'] === undefined && !Number(headers['content-length']);
}

/** The length of a body in bytes; undefined if the client did not say. */
export function contentLength({ headers }: Headed): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** The body of a request to the proxy, which is read before the request is forwarded only if its payment depends on it. */
export class BodyReader {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #isAwaited: boolean;
  #isTooLong = false;
  #bytes: Buffer | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    this.#isAwaited = /^100-continue$/i.test(headerText(request.headers.expect));
  }

  /** The bytes read. */
  get bytes(): Buffer | undefined {
    return this.#bytes;
  }

  /** Lets a client that waits for `100 Continue` send its body. */
  accept(): void {
    if (this.#isAwaited) this.#response.writeContinue();
    this.#isAwaited = false;
  }

  /** Undefined if the body is too long, or breaks off; what was read of it cannot be forwarded then. */
  async read(): Promise<Buffer | undefined> {
    if (this.#bytes !== undefined) return this.#bytes;
    const request = this.#request;
    if (isBodyless(request)) return Buffer.alloc(0);
    if (this.#isTooLong || (contentLength(request) ?? 0) > bytesMax) return undefined;
    this.accept();
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      // The connection stays open for the answer.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        bytes += chunk.byteLength;
        if (bytes <= bytesMax) continue;
        this.#isTooLong = true;
        return undefined;
      }
    } catch {
      return undefined;
    }
    this.#bytes = Buffer.concat(chunks);
    return this.#bytes;
  }
}
