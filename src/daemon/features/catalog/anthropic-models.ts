import type { ModelEntry } from '../../../shared/contract/models.ts';
import { isoTime } from '../../../shared/time.ts';
import type { Call } from '../../handler.ts';

/** Models in the format of Anthropic's API. Source: its API reference, "Models". */

const pageSizeDefault = 20;

/** Whether a client speaks Anthropic's API, whose models share their path with OpenAI's. */
export function speaksAnthropic(headers: Call<never>['headers']): boolean {
  return headers['anthropic-version'] !== undefined;
}

export interface AnthropicPage {
  limit?: number;
  after_id?: string;
  before_id?: string;
}

/** One page of a list of models; an unknown cursor gives an empty page. */
export function anthropicModelsPage(
  models: readonly ModelEntry[],
  { limit = pageSizeDefault, after_id: after, before_id: before }: AnthropicPage,
) {
  const indexOf = (id: string) => models.findIndex((model) => model.id === id);
  const end = before === undefined ? models.length : Math.max(0, indexOf(before));
  const start = after === undefined ? 0 : indexOf(after) + 1 || models.length;
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
