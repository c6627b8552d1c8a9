import type { ModelEntry } from '../../../shared/contract/models.ts';
import { ApiError } from '../../../shared/errors.ts';
import { missing } from '../../../shared/faults/not-found.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Call } from '../../base/handler.ts';

/** Models in the format of Anthropic's API. Source: its API reference, "Models". */

const pageSizeDefault = 20;

/** Whether a client speaks Anthropic's API, whose models share their path with OpenAI's. */
export function speaksAnthropic(headers: Call<never>['headers']): boolean {
  return headers['anthropic-version'] !== undefined;
}

/** A model, and whether the caller can use it now. */
export type Listed = readonly [model: ModelEntry, isUsable: boolean];

export interface AnthropicPage {
  limit?: number;
  after_id?: string;
  before_id?: string;
  isListed: (isUsable: boolean) => boolean;
}

/**
 * One page of the models that this API can call: its clients offer the whole list as choices. Throws `invalid_request` for
 * an unknown cursor.
 */
export function anthropicModelsPage(
  all: readonly Listed[],
  { limit = pageSizeDefault, after_id: after, before_id: before, isListed }: AnthropicPage,
) {
  // A cursor may have become unusable since the page before.
  const models = all.flatMap(([model, isUsable]) =>
    (isForMessages(model) && isListed(isUsable)) || model.id === after || model.id === before ? [model] : [],
  );
  const indexOf = (param: string, id: string) => {
    const index = models.findIndex((model) => model.id === id);
    if (index < 0) throw new ApiError('invalid_request', { param, message: missing('model', id) });
    return index;
  };
  const end = before === undefined ? models.length : indexOf('before_id', before);
  const start = after === undefined ? 0 : indexOf('after_id', after) + 1;
  const from = before === undefined ? start : Math.max(start, end - limit);
  const page = models.slice(from, Math.min(end, from + limit));
  const hasMore = before === undefined ? from + page.length < end : from > start;
  return {
    data: page.map(toAnthropicModel),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function isForMessages({ service: { capabilities } }: ModelEntry): boolean {
  return capabilities.kind === null || capabilities.kind === 'chat';
}

export function toAnthropicModel({ id, created, service }: ModelEntry) {
  return {
    type: 'model',
    id,
    display_name: service.name,
    created_at: isoTime(created * 1000),
    max_input_tokens: service.context_length,
    max_tokens: service.max_output_tokens,
    capabilities: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
  };
}
