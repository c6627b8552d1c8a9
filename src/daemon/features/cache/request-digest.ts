import { fingerprintOf } from '../idempotency/index.ts';
import type { RoutePlanRequest } from '../routing/index.ts';

/** Members of a body that do not affect its answer, or that the neutral form holds already. */
const ignored = new Set([
  ...['model', 'stream', 'stream_options', 'service', 'user', 'metadata', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'store', 'background'],
]);
/** Ids of items, and sealed texts, are new in each answer; the items hold their contents. */
const itemId = /^(msg|fc|ctc|rs|cmp|ws)_/;

/**
 * The digest of a request, history included: 64 hexadecimal digits, or undefined for a request that has none. Streamed
 * and whole answers to one request share it.
 */
export async function requestDigest(
  { inference, options, workspaceId }: RoutePlanRequest,
  model: string,
): Promise<string | undefined> {
  const { body, stream: _stream, model: _requested, ...asked } = inference;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !ignored.has(name)));
  const { only, ignore, pay, maxPrice } = options;
  const whole = { model, asked, rest, options: { only, ignore, pay, maxPrice } };
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
