import type {
  Inference,
  OutputFormat,
  Sampling,
  Tool,
  ToolChoice,
} from '../../../features/inference/neutral.ts';
import type { UpstreamCall } from '../../../features/inference/upstream.ts';
import { isObject, type Json } from '../../json.ts';
import { shortCallId } from '../call-ids.ts';
import { objectParameters } from '../tool-schema.ts';
import { type Flavour, outputTokensField } from './flavour.ts';
import { chatMessages } from './messages.ts';

/**
 * The body of a caller who speaks the chat format, with what must differ: model, bound of the output, usage in streams,
 * and what this provider would refuse. A field set to undefined is left out of the JSON text.
 */
export function relayedBody(call: UpstreamCall, flavour: Flavour): Json {
  const { body, stream } = call.inference;
  const sent: Json = { ...body, model: call.model, stream };
  // Storing is done here; OpenAI takes `metadata` only for what it stores itself.
  if ('store' in body) sent.store = undefined;
  if ('metadata' in body) sent.metadata = undefined;
  boundOutput(sent, call.outputTokensMax, flavour);
  if (!flavour.takesStreamOptions) sent.stream_options = undefined;
  else if (stream) sent.stream_options = withUsage(body.stream_options);
  if (isEmptyList(body.tools)) withoutTools(sent);
  else if (body.tool_choice === 'required') sent.tool_choice = flavour.requiredToolChoice;
  if (flavour.seedField !== 'seed' && 'seed' in body) {
    sent[flavour.seedField] = body.seed;
    sent.seed = undefined;
  }
  if (Array.isArray(body.messages)) sent.messages = relayedMessages(body.messages, flavour);
  return sent;
}

/** Many clients send an empty list, which OpenAI and others refuse, and with it what is said about tools. */
function withoutTools(sent: Json): void {
  for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) sent[field] = undefined;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

const outputFields = ['max_completion_tokens', 'max_tokens'] as const;

function boundOutput(sent: Json, outputTokensMax: number | undefined, flavour: Flavour): void {
  const asked = outputFields.find((field) => sent[field] !== undefined && sent[field] !== null);
  const value = outputTokensMax ?? (asked && sent[asked]);
  if (value === undefined) return;
  for (const field of outputFields) sent[field] = undefined;
  sent[outputTokensField(flavour, String(sent.model), asked)] = value;
}

function withUsage(options: unknown): Json {
  return isObject(options) ? { ...options, include_usage: true } : { include_usage: true };
}

/** The messages as they are, unless one of them holds what this provider refuses. */
function relayedMessages(messages: unknown[], flavour: Flavour): unknown[] {
  const isAsItIs = messages.every((message) => !isObject(message) || !needsChange(message, flavour));
  if (isAsItIs) return messages;
  return messages.map((message) => (isObject(message) ? relayedMessage(message, flavour) : message));
}

const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'];
/** What answers and SDKs add to a message, and strict providers refuse when it is sent back. */
const answerFields = ['parsed', 'annotations'];
const emptyFields = ['refusal', 'audio', 'function_call'];
/** Some SDKs copy an answer's members into the part that holds its text. */
const messageFields = new Set(['role', ...answerFields, ...emptyFields, ...reasoningFields]);

function needsChange(message: Json, flavour: Flavour): boolean {
  if (message.role === 'developer') return !flavour.knowsDeveloper;
  if (message.role === 'tool') return flavour.hasShortCallIds;
  if (message.role !== 'assistant') return false;
  if (flavour.hasShortCallIds && message.tool_calls !== undefined) return true;
  if (answerFields.some((field) => field in message)) return true;
  if (emptyFields.some((field) => message[field] === null)) return true;
  if (saysNothing(message) || isEmptyList(message.tool_calls)) return true;
  if (flavour.wantsReasoning && typeof message.reasoning_content !== 'string') return true;
  if (Array.isArray(message.tool_calls) && message.tool_calls.some(isOddCall)) return true;
  if (Array.isArray(message.content) && message.content.some(hasMessageFields)) return true;
  return reasoningFields.some((field) => field in message && !flavour.reasoningFields.includes(field));
}

function relayedMessage(message: Json, flavour: Flavour): Json {
  if (!needsChange(message, flavour)) return message;
  const sent: Json = { ...message };
  if (message.role === 'developer') sent.role = 'system';
  for (const field of reasoningFields) {
    if (field in sent && !flavour.reasoningFields.includes(field)) sent[field] = undefined;
  }
  for (const field of answerFields) if (field in sent) sent[field] = undefined;
  for (const field of emptyFields) if (sent[field] === null) sent[field] = undefined;
  if (flavour.wantsReasoning && message.role === 'assistant') sent.reasoning_content ??= '';
  if (isEmptyList(sent.tool_calls)) sent.tool_calls = undefined;
  if (saysNothing(sent)) sent.content = '';
  if (Array.isArray(sent.tool_calls)) sent.tool_calls = sent.tool_calls.map(asPlainCall);
  if (Array.isArray(sent.content) && sent.role === 'assistant') sent.content = sent.content.map(asPlainPart);
  if (flavour.hasShortCallIds) {
    if (typeof sent.tool_call_id === 'string') sent.tool_call_id = shortCallId(sent.tool_call_id);
    if (Array.isArray(sent.tool_calls)) sent.tool_calls = sent.tool_calls.map(withShortId);
  }
  return sent;
}

/** Whether an answer held neither words nor calls: sent back as it came, it would be refused. */
function saysNothing({ content, tool_calls: calls, function_call: called, audio }: Json): boolean {
  return (content ?? calls ?? called ?? audio ?? null) === null;
}

function withShortId(call: unknown): unknown {
  return isObject(call) && typeof call.id === 'string' ? { ...call, id: shortCallId(call.id) } : call;
}

/** Whether a call has what SDKs add to it, or no arguments at all: many servers parse the text, and nothing is no JSON. */
function isOddCall(call: unknown): boolean {
  if (!isObject(call) || !isObject(call.function)) return false;
  return 'parsed_arguments' in call.function || call.function.arguments === '';
}

function asPlainCall(call: unknown): unknown {
  if (!isObject(call) || !isObject(call.function) || !isOddCall(call)) return call;
  const { parsed_arguments: _parsed, ...called } = call.function;
  return { ...call, function: { ...called, arguments: called.arguments || '{}' } };
}

function hasMessageFields(part: unknown): boolean {
  if (!isObject(part)) return false;
  return Object.keys(part).some((name) => messageFields.has(name) && name !== part.type);
}

function asPlainPart(part: unknown): unknown {
  if (!isObject(part) || !hasMessageFields(part)) return part;
  const own = Object.entries(part).filter(([name]) => !messageFields.has(name) || name === part.type);
  return Object.fromEntries(own);
}

/** A chat body for a caller who speaks another format. Always a stream. */
export function neutralBody(call: UpstreamCall, provider: string, flavour: Flavour): Json {
  const { inference, model, outputTokensMax } = call;
  const receiver = { provider, model, flavour };
  const body: Json = {
    model,
    messages: chatMessages(inference.items, inference.instructions, receiver),
    stream: true,
  };
  if (flavour.takesStreamOptions) body.stream_options = { include_usage: true };
  const bound = outputTokensMax ?? inference.outputTokensMax;
  if (bound !== undefined) body[outputTokensField(flavour, model)] = bound;
  addTools(body, inference, flavour);
  addSampling(body, inference.sampling, flavour);
  if (inference.format !== undefined) body.response_format = responseFormat(inference.format);
  const effort = inference.reasoning?.effort;
  if (effort !== undefined) body[flavour.effort] = flavour.effort === 'reasoning' ? { effort } : effort;
  if (inference.verbosity !== undefined && flavour.takesVerbosity) body.verbosity = inference.verbosity;
  return body;
}

function addTools(body: Json, inference: Inference, flavour: Flavour): void {
  const { toolChoice, parallelToolCalls } = inference;
  const allowed = toolChoice?.mode === 'allowed' ? new Set(toolChoice.names) : undefined;
  const tools = inference.tools.flatMap((tool) =>
    tool.type === 'function' && (allowed?.has(tool.name) ?? true) ? [chatTool(tool)] : [],
  );
  // Without tools, a choice among them is refused.
  if (tools.length === 0) return;
  body.tools = tools;
  if (toolChoice !== undefined) body.tool_choice = chatToolChoice(toolChoice, flavour);
  if (parallelToolCalls !== undefined) body.parallel_tool_calls = parallelToolCalls;
}

function chatTool(tool: Extract<Tool, { type: 'function' }>): Json {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: objectParameters(tool.parameters),
      strict: tool.strict,
    },
  };
}

function chatToolChoice(choice: ToolChoice, flavour: Flavour): unknown {
  if (choice.mode === 'function') return { type: 'function', function: { name: choice.name } };
  const isRequired = choice.mode === 'required' || (choice.mode === 'allowed' && choice.required);
  if (isRequired) return flavour.requiredToolChoice;
  return choice.mode === 'allowed' ? 'auto' : choice.mode;
}

function addSampling(body: Json, sampling: Sampling, flavour: Flavour): void {
  body.temperature = sampling.temperature;
  body.top_p = sampling.topP;
  if (flavour.takesTopK) body.top_k = sampling.topK;
  body.presence_penalty = sampling.presencePenalty;
  body.frequency_penalty = sampling.frequencyPenalty;
  body.stop = sampling.stop;
  body[flavour.seedField] = sampling.seed;
  if (sampling.topLogprobs !== undefined) {
    body.logprobs = true;
    body.top_logprobs = sampling.topLogprobs;
  }
}

function responseFormat(format: OutputFormat): Json {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, description, schema, strict } };
}
