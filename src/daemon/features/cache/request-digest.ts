import { fingerprintOf } from '../idempotency/index.ts';
import type { Inference, ServiceOptions } from '../inference/index.ts';

/** Members of a body that do not change its answer, or are in the neutral form already. */
const leftOut = new Set([
  ...['model', 'stream', 'stream_options', 'service', 'user', 'metadata', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'store', 'background'],
]);
/** Ids of items are new in each answer, and sealed texts are too: what is in them stands in the items. */
const itemId = /^(msg|fc|rs|cmp|ws)_/;

/**
 * The digest of what a call asks, history included: 64 hexadecimal digits, or undefined for what cannot be told from
 * others. Streams and whole answers of one request have the same.
 */
export async function requestDigest(
  { inference, options, workspaceId }: { inference: Inference; options: ServiceOptions; workspaceId: string },
  model: string,
): Promise<string | undefined> {
  const { body, stream: _stream, model: _asked, ...asked } = inference;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !leftOut.has(name)));
  const { only, ignore, pay, maxPrice } = options;
  const whole = { model, asked, rest, wishes: { only, ignore, pay, maxPrice } };
  return await fingerprintOf({ method: 'CACHE', path: workspaceId }, plain(whole)).catch(() => undefined);
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) =>
      member !== undefined &&
      name !== 'encrypted_content' &&
      !(name === 'id' && typeof member === 'string' && itemId.test(member)),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}
