import { listOf } from '../../../shared/json/json-object.ts';
import type { UpstreamCall } from '../../features/upstreams/upstream.ts';
import { isObject, type Json, objectOf } from '../json.ts';
import { withoutStrict, withShortDescriptions } from './edited-tools.ts';

/** A body in the Responses or the Messages format as a provider's refusals showed that it must be. */
export function adjustedBody(body: Json, adjustments: UpstreamCall['adjustments']): Json {
  if (adjustments === undefined) return body;
  const adjusted = { ...body };
  if (adjustments.has('no-strict-tools')) adjusted.tools = withoutStrict(body.tools);
  if (adjustments.has('short-descriptions')) adjusted.tools = withShortDescriptions(adjusted.tools);
  if (adjustments.has('no-encrypted-reasoning'))
    adjusted.input = listOf(body.input).filter((item) => objectOf(item)?.type !== 'reasoning');
  if (adjustments.has('no-item-status')) adjusted.input = withStatus(adjusted.input, undefined);
  else if (adjustments.has('item-status')) adjusted.input = withStatus(adjusted.input, 'completed');
  return adjusted;
}

function withStatus(input: unknown, status: string | undefined): unknown {
  if (!Array.isArray(input)) return input;
  return input.map((item) =>
    isObject(item) ? { ...item, status: status && (item.status ?? status) } : item,
  );
}
