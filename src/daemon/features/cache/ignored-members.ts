import type { Json } from '../../../shared/faults/invalid-request.ts';

/** Members of a body that do not affect its answer, or that the neutral form holds already. */
const ignored = new Set([
  ...['model', 'stream', 'stream_options', 'service', 'user', 'metadata', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'store'],
]);

/** What calls with the same answer have in common. */
export function withoutIgnored(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !ignored.has(name)));
}
