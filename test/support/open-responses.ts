import { z } from 'zod';

/**
 * The Responses format as strictly as the Open Responses specification puts it (version 2026-04-24): every member is
 * there, and nothing else is, but for `service`, which is an extension of ours.
 */

const text = z.string();
const count = z.int().nonnegative();

const urlCitation = z.strictObject({
  type: z.literal('url_citation'),
  url: text,
  title: text,
  start_index: count,
  end_index: count,
});
const logprob = z.object({
  token: text,
  logprob: z.number(),
  bytes: z.array(z.int()),
  top_logprobs: z.array(z.unknown()),
});

export const OutputText = z.strictObject({
  type: z.literal('output_text'),
  text,
  annotations: z.array(urlCitation),
  logprobs: z.array(logprob),
});
export const Refusal = z.strictObject({ type: z.literal('refusal'), refusal: text });
export const ContentPart = z.discriminatedUnion('type', [OutputText, Refusal]);
export const SummaryText = z.strictObject({ type: z.literal('summary_text'), text });

const status = z.enum(['in_progress', 'completed', 'incomplete']);

export const Message = z.strictObject({
  type: z.literal('message'),
  id: text.regex(/^msg_[0-9a-z]{26}$/),
  status,
  role: z.literal('assistant'),
  content: z.array(ContentPart),
  phase: z.enum(['commentary', 'final_answer']).optional(),
});
export const FunctionCall = z.strictObject({
  type: z.literal('function_call'),
  id: text.regex(/^fc_[0-9a-z]{26}$/),
  status,
  call_id: text.min(1).max(64),
  name: text.min(1),
  arguments: text,
});
export const Reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: text.regex(/^rs_[0-9a-z]{26}$/),
  summary: z.array(SummaryText),
  content: z.array(z.unknown()).optional(),
  encrypted_content: text.startsWith('gws1.').optional(),
});
export const Item = z.discriminatedUnion('type', [Message, FunctionCall, Reasoning]);
export type Item = z.infer<typeof Item>;

export const Usage = z
  .strictObject({
    input_tokens: count,
    input_tokens_details: z.strictObject({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.strictObject({ reasoning_tokens: count }),
    total_tokens: count,
  })
  .refine((usage) => usage.total_tokens === usage.input_tokens + usage.output_tokens)
  .refine((usage) => usage.input_tokens_details.cached_tokens <= usage.input_tokens)
  .refine((usage) => usage.output_tokens_details.reasoning_tokens <= usage.output_tokens);

const dollars = text.regex(/^\d+(\.\d+)?$/);
export const Cost = z
  .strictObject({ provider_usd: dollars, margin_usd: dollars, total_usd: dollars })
  .nullable();
const Attempt = z.strictObject({
  provider: text,
  model: text,
  status: count,
  error_code: text.nullable(),
  ms: z.number().nonnegative(),
});
const Service = z.strictObject({
  model: text,
  provider: text,
  attempts: z.array(Attempt).min(1),
  cost: Cost,
  charged_usd: dollars,
  own_key: z.boolean(),
  provider_finish_reason: text.optional(),
});

const nullableText = text.nullable();
const FunctionTool = z.strictObject({
  type: z.literal('function'),
  name: text,
  description: nullableText,
  parameters: z.record(text, z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});
const Format = z.union([
  z.strictObject({ type: z.enum(['text', 'json_object']) }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: text,
    description: nullableText,
    schema: z.record(text, z.unknown()),
    strict: z.boolean().nullable(),
  }),
]);

export const ResponseResource = z.strictObject({
  id: text.regex(/^resp_/),
  object: z.literal('response'),
  created_at: z.int().positive(),
  completed_at: z.int().positive().nullable(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed', 'incomplete', 'cancelled']),
  incomplete_details: z.strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  model: text,
  previous_response_id: nullableText,
  instructions: nullableText,
  output: z.array(Item),
  error: z.strictObject({ code: text, message: text }).nullable(),
  tools: z.array(FunctionTool),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: text })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.strictObject({ format: Format, verbosity: z.enum(['low', 'medium', 'high']).optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: z.strictObject({ effort: nullableText, summary: nullableText }).nullable(),
  usage: Usage.nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.record(text, z.unknown()),
  safety_identifier: nullableText,
  prompt_cache_key: nullableText,
  service: Service.optional(),
});
export type ResponseResource = z.infer<typeof ResponseResource>;

const sequence = { sequence_number: count };
const event = <const T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...sequence, ...shape });
const at = { item_id: text, output_index: count };
const inContent = { ...at, content_index: count };
const inSummary = { ...at, summary_index: count };
const snapshot = { response: ResponseResource };

export const StreamEvent = z.discriminatedUnion('type', [
  event('response.created', snapshot),
  event('response.in_progress', snapshot),
  event('response.completed', snapshot),
  event('response.failed', snapshot),
  event('response.incomplete', snapshot),
  event('response.output_item.added', { output_index: count, item: Item }),
  event('response.output_item.done', { output_index: count, item: Item }),
  event('response.content_part.added', { ...inContent, part: ContentPart }),
  event('response.content_part.done', { ...inContent, part: ContentPart }),
  event('response.output_text.delta', { ...inContent, delta: text, logprobs: z.array(logprob) }),
  event('response.output_text.done', { ...inContent, text, logprobs: z.array(logprob) }),
  event('response.output_text.annotation.added', {
    ...inContent,
    annotation_index: count,
    annotation: urlCitation,
  }),
  event('response.refusal.delta', { ...inContent, delta: text }),
  event('response.refusal.done', { ...inContent, refusal: text }),
  event('response.function_call_arguments.delta', { ...at, delta: text }),
  event('response.function_call_arguments.done', { ...at, name: text.optional(), arguments: text }),
  event('response.reasoning_summary_part.added', { ...inSummary, part: SummaryText }),
  event('response.reasoning_summary_part.done', { ...inSummary, part: SummaryText }),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: text }),
  event('response.reasoning_summary_text.done', { ...inSummary, text }),
  event('error', {
    error: z.strictObject({ type: text, code: text, message: text, param: nullableText }),
  }),
  event('service:route', {
    request_id: text.regex(/^req_/),
    model: text,
    provider: text,
    attempt: z.int().positive(),
  }),
  event('service:cost', {
    request_id: text.regex(/^req_/),
    usage: Usage,
    cost: Cost,
    charged_usd: dollars,
  }),
]);
export type StreamEvent = z.infer<typeof StreamEvent>;
