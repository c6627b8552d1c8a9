import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import type { ServiceAnswer } from '../../../../../shared/contract/service-member.ts';
import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { shownTool } from '../../../../../shared/masking/mask-json.ts';
import type { Tokens } from '../../../../../shared/money/money.ts';
import { unixSeconds } from '../../../../../shared/time/time.ts';
import type { Output, OutputItem, OutputPart, Settled } from '../../../calls/index.ts';
import type { ContentPart, InputItem, ReasoningOrigin, ToolName } from '../../../upstreams/neutral.ts';
import { showBuiltinCall } from './builtin-tools.ts';

/** The response object before the answer. It has every member; most echo the request. */
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
    // Replaced by the catalog's id once a provider answers.
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
  if (tool.type !== 'function') return shownTool(tool);
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
  /** What else the provider says. */
  members?: Json | undefined;
  output: Json[];
  tokens: Tokens | undefined;
  completedAt: number;
  service: ServiceAnswer | undefined;
}

/** The response object after the answer. */
export function endResource(resource: Json, end: ResourceEnd): Json {
  return {
    ...resource,
    ...end.members,
    status: end.status,
    completed_at: end.status === 'completed' ? end.completedAt : null,
    incomplete_details: end.incompleteReason === undefined ? null : { reason: end.incompleteReason },
    error: end.error ?? null,
    output: end.output,
    usage: end.tokens ? showUsage(end.tokens) : null,
    ...(end.service && { service: end.service }),
  };
}

interface AnswerEnd extends Pick<ResourceEnd, 'error'> {
  /** `answered` is complete or incomplete, by its finish reason. */
  status: 'answered' | 'failed' | 'cancelled';
  settled: Settled | undefined;
  /** Whether sealed reasoning is shown. */
  sealed: boolean;
}

/** The response object of a started answer, however it ended. */
export function showResponse(
  resource: Json,
  { items, members }: Pick<Output, 'items'> & Partial<Pick<Output, 'members'>>,
  { status, settled, error, sealed }: AnswerEnd,
): Json {
  const isCut = status === 'cancelled' || (status === 'answered' && settled?.finish !== 'stop');
  const answered = isCut ? 'incomplete' : 'completed';
  return endResource(resource, {
    members,
    status: status === 'answered' ? answered : status,
    ...(status === 'answered' && isCut && { incompleteReason: settled?.finish ?? 'max_output_tokens' }),
    ...(error && { error: { code: error.code, message: error.message } }),
    output: showOutput(items, { sealed, isCut }),
    tokens: settled?.tokens,
    completedAt: unixSeconds(settled?.completedAt ?? 0),
    service: settled?.service,
  });
}

/**
 * Neutral items in the Responses format, as stored in threads, without those that only another format has. `seal` encrypts
 * provider-specific reasoning.
 */
export function showInputItems(
  items: readonly InputItem[],
  seal: (origin: ReasoningOrigin) => string,
): Json[] {
  return items
    .filter((item) => item.type !== 'opaque' || item.wire === 'responses')
    .map((item) => showInputItem(item, seal));
}

function showInputItem(item: InputItem, seal: (origin: ReasoningOrigin) => string): Json {
  switch (item.type) {
    case 'message':
      return {
        type: 'message',
        role: item.role,
        content: item.content.map((part) => showMessagePart(part, item.role)),
      };
    case 'function_call':
      return showCall(item);
    case 'function_call_output':
      return {
        type: item.custom ? 'custom_tool_call_output' : 'function_call_output',
        call_id: item.callId,
        output: item.output.map((part) => showMessagePart(part, 'user')),
      };
    case 'reasoning':
      return {
        type: 'reasoning',
        summary: item.summary.map((text) => ({ type: 'summary_text', text })),
        ...(item.origin && { encrypted_content: seal(item.origin) }),
      };
    case 'opaque':
      return item.json;
  }
}

/** The members that a call has as an input and as an output item. */
function showCall(call: ToolName & { callId: string; arguments: string }): Json {
  const { callId: call_id, name, namespace, custom, builtin, arguments: text } = call;
  if (builtin !== undefined) return { call_id, ...showBuiltinCall(builtin, text) };
  return {
    type: custom ? 'custom_tool_call' : 'function_call',
    call_id,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(custom ? { input: text } : { arguments: text }),
  };
}

function showMessagePart(part: ContentPart, role: string): Json {
  return part.type === 'text' && role === 'assistant'
    ? { type: 'output_text', text: part.text, annotations: [] }
    : showInputPart(part);
}

/** A part of an input message in the Responses format. */
export function showInputPart(part: ContentPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal };
    case 'image':
      return {
        type: 'input_image',
        ...(part.upload ? { file_id: part.upload.id } : { image_url: part.url }),
        detail: part.detail ?? 'auto',
      };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file': {
      const { filename, data, url, upload } = part;
      return {
        type: 'input_file',
        ...(filename !== undefined && { filename }),
        ...(data !== undefined && { file_data: data }),
        ...(url !== undefined && { file_url: url }),
        ...(upload && { file_id: upload.id }),
      };
    }
  }
}

export interface ShowOptions {
  /** Whether to include sealed reasoning. It is always stored with a response. */
  sealed: boolean;
  status: 'in_progress' | 'completed' | 'incomplete';
}

/** An output item in the Responses format. */
export function showItem(item: OutputItem, { sealed, status }: ShowOptions): Json {
  switch (item.kind) {
    case 'message':
      return {
        ...item.whole,
        id: item.id,
        type: 'message',
        status: item.whole?.status ?? status,
        role: 'assistant',
        content: wholeContent(item.whole) ?? item.parts.map(showPart),
      };
    case 'function_call':
      return {
        ...item.whole,
        id: item.id,
        status: item.whole?.status ?? status,
        ...showCall(item),
      };
    case 'reasoning': {
      const { encrypted_content: _theirs, ...whole } = item.whole ?? {};
      const summary = item.parts
        .filter((text) => text !== undefined)
        .map((text) => ({ type: 'summary_text', text }));
      const shown: Json = { ...whole, id: item.id, type: 'reasoning', summary: whole.summary ?? summary };
      if (sealed && item.sealed !== undefined) shown.encrypted_content = item.sealed;
      return shown;
    }
    case 'opaque':
      return item.json;
  }
}

/** The provider's own parts: annotations refer to positions within each part, so parts must not be joined. */
function wholeContent(whole: Json | undefined): Json[] | undefined {
  const content = Array.isArray(whole?.content) ? whole.content.filter(isObject) : [];
  if (content.length === 0) return undefined;
  return content.map((part) =>
    part.type === 'output_text'
      ? { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] }
      : part,
  );
}

/** An output part in the Responses format. */
export function showPart(part: OutputPart): Json {
  return part.type === 'refusal'
    ? { type: 'refusal', refusal: part.refusal }
    : { type: 'output_text', text: part.text, annotations: part.annotations, logprobs: part.logprobs };
}

/** All output items in the Responses format. Unfinished items, and the last item of a cut answer, are incomplete. */
export function showOutput(
  items: readonly OutputItem[],
  { sealed, isCut }: { sealed: boolean; isCut: boolean },
): Json[] {
  const last = items.length - 1;
  return items.map((item, index) => {
    const isWhole = item.done && !(isCut && index === last);
    return showItem(item, { sealed, status: isWhole ? 'completed' : 'incomplete' });
  });
}
