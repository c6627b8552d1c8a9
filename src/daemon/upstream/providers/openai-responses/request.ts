import { createHash } from 'node:crypto';
import type {
  CacheMark,
  ContentPart,
  FunctionCallItem,
  Inference,
  InputItem,
  MessageItem,
  OutputFormat,
  ReasoningItem,
  Tool,
  ToolChoice,
} from '../../../features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import { isObject, type Json, objectOf } from '../../json.ts';
import {
  type MarkForm,
  markedInstructions,
  markedPart,
  markedParts,
  takesBreakpoints,
} from '../cache-marks.ts';
import { markedOutput, pairedItems, readableArguments, withShownFiles } from '../conversation.ts';
import { fileUrl, imageUrl } from '../inline-data.ts';
import { refuseImageOutput } from '../provider-failures.ts';
import { functionParameters } from '../tool-schema.ts';

const sealedReasoning = 'reasoning.encrypted_content';
/** The entry of `include` for log probabilities. */
export const logprobs = 'message.output_text.logprobs';

/** The body for callers of the Responses format: their own, with model, input and output limit set. */
export function relayedResponsesBody(call: UpstreamCall, provider: string): Json {
  const { inference, model, outputTokensMax } = call;
  const { body } = inference;
  const sent: Json = {
    ...body,
    model,
    input: responsesInput(inference.items, { provider, model }),
    stream: inference.stream,
    store: false,
    include: included(call, Array.isArray(body.include) ? body.include : []),
  };
  if (outputTokensMax !== undefined) sent.max_output_tokens = outputTokensMax;
  return sent;
}

/** What concerns the input of a call. Source: OpenAI's API reference, "Get input token counts". */
const promptMembers = [
  ...[
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning',
    'text',
    'truncation',
    'personality',
  ],
];

/** The body that has the input of such a call counted. Other members would be refused. */
export function relayedPrompt(
  { inference, model }: Pick<UpstreamCall, 'inference' | 'model'>,
  provider: string,
): Json {
  const sent: Json = { model, input: responsesInput(inference.items, { provider, model }) };
  for (const member of promptMembers) if (member in inference.body) sent[member] = inference.body[member];
  return sent;
}

/** OpenAI refuses lower limits, with which clients of other formats try whether a model is there. Source: BerriAI/litellm#31451. */
const outputTokensMin = 16;

/** The body for callers of another format, always streamed. */
export function neutralResponsesBody(call: UpstreamCall, provider: string): Json {
  const { inference, model, subscription } = call;
  // What takes logins demands instructions.
  const isMarked = provider === 'openai' && subscription === undefined && takesBreakpoints(model);
  const marks: MarkForm = isMarked ? 'prompt_cache_breakpoint' : undefined;
  const system = marks && markedInstructions(inference);
  const input = responsesInput(pairedItems(withShownFiles(inference.items)), { provider, model, marks });
  if (system)
    input.unshift({
      type: 'message',
      role: 'system',
      content: system.map(({ text, ...mark }) => markedPart({ type: 'input_text', text }, mark, marks)),
    });
  const { sampling, reasoning } = inference;
  refuseImageOutput(inference);
  const limit = call.outputTokensMax ?? inference.outputTokensMax;
  const body: Json = {
    model,
    instructions: system ? undefined : inference.instructions,
    input,
    stream: true,
    store: false,
    max_output_tokens: limit === undefined ? undefined : Math.max(outputTokensMin, limit),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    text: textOptions(inference),
    ...cacheMembers(inference),
    include: included(call, sampling.topLogprobs === undefined ? [] : [logprobs]),
  };
  if (sampling.topLogprobs) body.top_logprobs = sampling.topLogprobs;
  if (reasoning !== undefined) body.reasoning = { effort: reasoning.effort, summary: reasoning.summary };
  const custom = new Set(inference.tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
  const tools = inference.tools.flatMap(responsesTool);
  if (tools.length > 0) {
    body.tools = tools;
    body.tool_choice = inference.toolChoice && responsesToolChoice(inference.toolChoice, custom);
    body.parallel_tool_calls = inference.parallelToolCalls;
  }
  return body;
}

const cacheMembersOfChat = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options'];

/**
 * What finds a conversation's cache again. Of the Messages format, that is a digest of the user, whose id contains the session of
 * Claude Code. Source: theopenco/llmgateway#3009, anchpop/tysm#53.
 */
function cacheMembers({ wire, body }: Inference): Json {
  if (wire === 'chat')
    return Object.fromEntries(cacheMembersOfChat.map((name) => [name, body[name] ?? undefined]));
  const { user_id: user } = objectOf(body.metadata) ?? {};
  if (wire !== 'messages' || typeof user !== 'string' || user === '') return {};
  return { prompt_cache_key: createHash('sha256').update(user).digest('hex').slice(0, 32) };
}

/** Requests encrypted reasoning from reasoning models; other models refuse the option. */
function included(call: UpstreamCall, requested: unknown[]): unknown[] | undefined {
  const include = requested.filter((each) => each !== sealedReasoning);
  if (
    call.inference.reasoning !== undefined ||
    requested.length > include.length ||
    isReasoningModel(call.model)
  ) {
    include.push(sealedReasoning);
  }
  return include.length > 0 ? include : undefined;
}

function isReasoningModel(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return /^(o\d|gpt-([5-9]|\d\d)|codex|grok-[4-9])/.test(name) && !/chat|non-reasoning/.test(name);
}

function textOptions({ format, verbosity }: Inference): Json | undefined {
  if (format === undefined && verbosity === undefined) return undefined;
  return { format: format && textFormat(format), verbosity };
}

function textFormat(format: OutputFormat): Json {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', name, description, schema, strict };
}

/** Functions are strict by default here, unlike in the chat format. */
function responsesTool(tool: Tool): Json[] {
  if (tool.type === 'opaque') return [];
  if (tool.type === 'custom') {
    const { name, description, grammar } = tool;
    return [{ type: 'custom', name, description, format: grammar && { type: 'grammar', ...grammar } }];
  }
  const { name, description, strict = false } = tool;
  return [{ type: 'function', name, description, parameters: functionParameters(tool.parameters), strict }];
}

function responsesToolChoice(choice: ToolChoice, custom: ReadonlySet<string>): unknown {
  const named = (name: string) => ({ type: custom.has(name) ? 'custom' : 'function', name });
  if (choice.mode === 'function') return named(choice.name);
  if (choice.mode !== 'allowed') return choice.mode;
  const tools = choice.names.map(named);
  return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools };
}

/** The recipient of the items: reasoning is only sent back to the provider and model that it came from. */
export interface Receiver {
  provider: string;
  model: string;
  /** Left out where items are the caller's own, with marks of their own. */
  marks?: MarkForm;
}

/**
 * Converts items to the Responses format. Ids are left out: they are the gateway's, and unknown to a provider that stores
 * nothing. Source: the Open Responses specification, item parameters.
 */
function responsesInput(items: InputItem[], receiver: Receiver): Json[] {
  return items.flatMap((item) => inputItem(item, receiver));
}

function inputItem(item: InputItem, receiver: Receiver): Json[] {
  switch (item.type) {
    case 'message':
      return [message(item, receiver)];
    case 'function_call':
      return [toolCall(item)];
    case 'function_call_output': {
      const output = toolOutput(markedOutput(item), { callers: item.json?.output, item, ...receiver });
      if (item.json) return [{ ...item.json, id: undefined, output }];
      const type = item.custom ? 'custom_tool_call_output' : 'function_call_output';
      return [{ type, call_id: item.callId, output }];
    }
    case 'reasoning':
      return reasoning(item, receiver);
    case 'opaque':
      return item.wire === 'responses' ? [withOwnId(item.json)] : [];
  }
}

/** Without an id that the gateway gave a stored item: providers expect another prefix. */
function withOwnId(json: Json): Json {
  if (typeof json.id !== 'string' || !json.id.startsWith('msg_') || json.type === 'message') return json;
  const { id: _id, ...item } = json;
  return item;
}

function toolCall(item: FunctionCallItem): Json {
  const { callId, name, namespace, custom, json } = item;
  const text = custom ? item.arguments : readableArguments(item.arguments);
  // Members such as `status`, `caller` and `async` are sent as they are.
  if (json) return custom ? { ...json, id: undefined } : { ...json, id: undefined, arguments: text };
  const called = { call_id: callId, name, ...(namespace !== undefined && { namespace }) };
  return custom
    ? { type: 'custom_tool_call', ...called, input: text }
    : { type: 'function_call', ...called, arguments: text };
}

function message(item: MessageItem, { provider, marks }: Receiver): Json {
  const { role, content, phase, json } = item;
  const base = json
    ? { ...json, id: undefined, type: 'message' }
    : { type: 'message', role, ...(phase !== undefined && { phase }) };
  if (content.length === 0) return { ...base, content: '' };
  if (typeof json?.content === 'string') return base;
  // Servers that check parts of answers want members such as ids, and OpenAI caches parts only. Source: Wei-Shaw/sub2api#6247,
  // vllm-project/vllm#45273, azerozero/grob#420.
  const [first] = content;
  if (
    provider !== 'openai' &&
    !json &&
    role === 'assistant' &&
    content.length === 1 &&
    first?.type === 'text'
  )
    return { ...base, content: first.text };
  const parts =
    role === 'assistant'
      ? content.map(outputPart)
      : markedParts(content, { item, form: marks, write: inputPart });
  return { ...base, content: withCallersMembers(parts, json?.content) };
}

/** A single text is sent as text: not every server accepts parts here. */
function toolOutput(
  output: ContentPart[],
  { callers, item, marks }: { callers: unknown; item: CacheMark; marks?: MarkForm },
): string | Json[] {
  if (typeof callers === 'string') return callers;
  if (output.length === 0) return '';
  const [first] = output;
  const marked = markedParts(output, { item, form: marks, write: inputPart });
  const parts = withCallersMembers(marked, callers);
  const isText =
    output.length === 1 && first?.type === 'text' && Object.keys(parts[0] ?? {}).length <= textMembers;
  return isText ? first.text : parts;
}

/** `type` and `text`. */
const textMembers = 2;

/** The caller's own parts where they have the same type, with members such as `annotations` or `prompt_cache_breakpoint`. */
function withCallersMembers(parts: Json[], callers: unknown): Json[] {
  if (!Array.isArray(callers) || callers.length !== parts.length) return parts;
  return parts.map((part, index) => {
    const own: unknown = callers[index];
    if (!isObject(own) || own.type !== part.type) return part;
    let merged = own;
    for (const name in part) {
      if ((own[name] ?? undefined) !== undefined || part[name] === undefined) continue;
      if (merged === own) merged = { ...own };
      merged[name] = part[name];
    }
    return merged;
  });
}

function outputPart(part: ContentPart): Json {
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.refusal };
  if (part.type === 'text') return { type: 'output_text', text: part.text, annotations: [] };
  return inputPart(part);
}

function inputPart(part: ContentPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'refusal':
      return { type: 'input_text', text: part.refusal };
    case 'image':
      return {
        type: 'input_image',
        ...(part.upload ? { file_id: part.upload.id } : { image_url: imageUrl(part.url) }),
        detail: part.detail ?? 'auto',
      };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file':
      if (part.upload) return { type: 'input_file', file_id: part.upload.id };
      return part.data === undefined
        ? { type: 'input_file', file_url: part.url }
        : { type: 'input_file', filename: part.filename, file_data: fileUrl(part.data, part.filename) };
  }
}

function reasoning({ origin, summary }: ReasoningItem, { provider, model }: Receiver): Json[] {
  if (origin?.provider !== provider || origin.model !== model || !isObject(origin.payload)) return [];
  const { encrypted_content, content, id } = origin.payload;
  const isReadable = Array.isArray(content);
  if (typeof encrypted_content !== 'string' && !isReadable) return [];
  return [
    {
      type: 'reasoning',
      ...(typeof id === 'string' ? { id } : undefined),
      // Thoughts that can be read are no summary, but clients of other formats have them as one.
      summary: isReadable ? [] : summary.map((text) => ({ type: 'summary_text', text })),
      ...(isReadable && { content }),
      encrypted_content,
    },
  ];
}
