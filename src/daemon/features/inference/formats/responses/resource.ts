import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import type { ServiceAnswer } from '../../../../../shared/contract/service-member.ts';
import type { Tokens } from '../../../../../shared/money.ts';
import { isObject, type Json } from '../../fault.ts';

/** The response object of one call, before anything was answered: every member is there, most echo the request. */
export function startResource(
  body: CreateResponseBody,
  start: { id: string; createdAt: number; store: boolean; threadId?: string },
): Json {
  return {
    id: start.id,
    object: 'response',
    created_at: start.createdAt,
    completed_at: null,
    status: 'in_progress',
    incomplete_details: null,
    // Until it is known who answers: what was asked for.
    model: body.model,
    previous_response_id: body.previous_response_id ?? null,
    instructions: body.instructions ?? null,
    output: [],
    error: null,
    tools: (body.tools ?? []).map(showTool),
    tool_choice: body.tool_choice ?? 'auto',
    truncation: body.truncation ?? 'disabled',
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    text: showText(body.text),
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: body.top_logprobs ?? 0,
    temperature: body.temperature ?? 1,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    usage: null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    store: start.store,
    background: body.background === true,
    service_tier: body.service_tier && body.service_tier !== 'auto' ? body.service_tier : 'default',
    metadata: body.metadata ?? {},
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    ...(start.threadId !== undefined && { conversation: { id: start.threadId } }),
  };
}

function showTool(tool: Json): Json {
  if (tool.type !== 'function') return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function showText(text: unknown): Json {
  const given = isObject(text) ? text : {};
  const format = isObject(given.format) ? given.format : { type: 'text' };
  if (format.type !== 'json_schema') return { ...given, format };
  return { ...given, format: { description: null, strict: null, ...format } };
}

/** Token counts in the Responses format. */
export function showUsage(tokens: Tokens): Json {
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.input + tokens.output,
  };
}

export interface ResourceEnd {
  status: 'completed' | 'incomplete' | 'failed' | 'cancelled';
  incompleteReason?: string;
  error?: { code: string; message: string };
  output: Json[];
  tokens: Tokens | undefined;
  completedAt: number;
  service: ServiceAnswer | undefined;
}

/** The response object once it has ended. */
export function endResource(resource: Json, end: ResourceEnd): Json {
  return {
    ...resource,
    status: end.status,
    completed_at: end.status === 'completed' ? end.completedAt : null,
    incomplete_details: end.incompleteReason === undefined ? null : { reason: end.incompleteReason },
    error: end.error ?? null,
    output: end.output,
    usage: end.tokens ? showUsage(end.tokens) : null,
    ...(end.service && { service: end.service }),
  };
}
