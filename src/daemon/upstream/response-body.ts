import { type IncomingBody, NetworkFailure } from '../world.ts';
import { isObject } from './json.ts';

/** At most that many bytes of a body as text, what came before a break included; the rest is not waited for. */
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

/**
 * Whether a refusal is a page of what stands before a provider: a firewall that dislikes words, or another server at a
 * wrong address. It tells nothing of the key or the model.
 */
export function standsBefore(status: number, body: string): boolean {
  return (status === 403 || status === 404) && /^\s*<(!doctype|html|head|body)/i.test(body.slice(0, 256));
}

/**
 * The status that a document stands for when it is an error in disguise: `{error: …}` where the provider gave nothing
 * else, or `{object: "error", …}`. Some write the status into `code`; 500 where they do not. Undefined for an answer.
 */
export function errorStatusIn(json: Record<string, unknown>): number | undefined {
  const isError = json.object === 'error' || (json.error !== undefined && json.error !== null);
  // A failed Responses object holds `error` too, and is read as what it is.
  if (!isError || json.object === 'response') return undefined;
  const code = isObject(json.error) ? (json.error.code ?? json.error.status) : json.code;
  return typeof code === 'number' && code >= 400 && code <= 599 ? code : 500;
}
