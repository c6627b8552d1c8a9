import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import type { Inference } from '../../upstreams/neutral.ts';

/** Whether a request asks Anthropic to cache a part of it for an hour, in its own format or as members of chat messages. */
export function asksForLongCache({ body }: Pick<Inference, 'body'>): boolean {
  const { system, tools, messages } = body;
  return isLong(body) || [system, tools, messages].some(hasLong);
}

/** Whether one of a list, or of its contents, asks for it. */
function hasLong(list: unknown): boolean {
  return (
    Array.isArray(list) && list.some((part) => isObject(part) && (isLong(part) || hasLong(part.content)))
  );
}

function isLong({ cache_control: control }: Json): boolean {
  return isObject(control) && control.ttl === '1h';
}
