import { type IncomingBody, NetworkFailure } from '../base/world.ts';
import type { Json } from './json.ts';
import { errorMember, statusOf, vendorError } from './vendor-errors.ts';

/** Reads at most `bytesMax` bytes of a body as text. If the connection breaks, returns what arrived before. */
export async function readText(body: IncomingBody, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytesMax) break;
    }
  } catch (error) {
    if (!(error instanceof NetworkFailure) || error.kind === 'aborted') throw error;
  }
  return Buffer.concat(chunks).toString('utf8', 0, Math.min(length, bytesMax));
}

/** Others mean the same with a page: a key that is missing, a rate, a size. */
const pageStatuses: readonly number[] = [400, 403, 404, 406];

/**
 * Whether a refusal is an HTML page, sent by a firewall in front of the provider or by another server at a wrong
 * address. It says nothing about the key or the model.
 */
export function isHtmlRefusal(status: number, body: string): boolean {
  return pageStatuses.includes(status) && /^\s*<(!doctype|html|head|body)/i.test(body.slice(0, 256));
}

/**
 * The status of an error that was sent as a successful document: `{error: …}`, `{object: "error", …}` or a vendor's own
 * shape. Undefined if the document is an answer.
 */
export function errorStatusIn(json: Json): number | undefined {
  // A failed Responses object has `error` too, but is still an answer.
  if (json.object === 'response') return undefined;
  if (json.object === 'error') return statusOf(json);
  const error = errorMember(json);
  return error === undefined ? vendorError(json)?.status : statusOf(error);
}
