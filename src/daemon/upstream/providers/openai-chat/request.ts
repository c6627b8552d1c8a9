import { listOf } from '../../../../shared/json/json-object.ts';
import type {
  Inference,
  OutputFormat,
  Sampling,
  Tool,
  ToolChoice,
} from '../../../features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import { isObject, type Json, mapChanged, objectOf, objectsOf } from '../../json.ts';
import {
  automaticMark,
  cacheMarksMax,
  cachesMarkedOnly,
  hasMarks,
  limitMarks,
  markedEnds,
} from '../cache-marks.ts';
import { isBlankText, readableArguments } from '../conversation.ts';
import { withFunctions, withoutStrict, withShortDescriptions } from '../edited-tools.ts';
import { imageUrl } from '../inline-data.ts';
import { plainSchema } from '../plain-schema.ts';
import { functionParameters, grammarSchema } from '../tool-schema.ts';
import { chatMessages } from './messages.ts';
import { acceptedTurns } from './plain-turns.ts';
import { callIdFor, outputTokensField, type Quirks, reasoningFor } from './quirks.ts';
import { withoutToolAttachments } from './tool-attachments.ts';

/**
 * The body for callers of the chat format: their own, with the model, output limit and usage in streams set, and without
 * what this provider would refuse. Fields set to undefined are not serialized.
 */
export function relayedBody(call: UpstreamCall, quirks: Quirks): Json {
  const { body, stream } = call.inference;
  const sent: Json = { ...body, model: call.model, stream };
  // The gateway stores answers itself, and OpenAI only accepts `metadata` for answers that it stores.
  if ('store' in body) sent.store = undefined;
  if ('metadata' in body) sent.metadata = undefined;
  limitOutput(sent, call.outputTokensMax, quirks);
  if (!quirks.supportsStreamOptions) sent.stream_options = undefined;
  else if (stream) sent.stream_options = withUsage(body.stream_options);
  if ((body.tools ?? null) === null || isEmptyList(body.tools)) removeTools(sent);
  else if (body.tool_choice === 'required') sent.tool_choice = quirks.requiredToolChoice;
  else if (!quirks.supportsAllowedTools) restrictTools(sent, body, quirks);
  leaveOutRefused(sent, call.inference, quirks);
  for (const field of ['stop', 'functions']) if (isEmptyList(body[field])) sent[field] = undefined;
  if (quirks.seedField !== 'seed' && 'seed' in body) {
    sent[quirks.seedField] = body.seed;
    sent.seed = undefined;
  }
  if (Array.isArray(body.messages)) sent.messages = relayedMessages(body.messages, quirks);
  return sent;
}

/** Many clients send an empty list of tools, or only a choice among none, which OpenAI and others refuse. */
function removeTools(sent: Json): void {
  for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) sent[field] = undefined;
}

/** Most servers do not know `allowed_tools`, so they get the allowed tools only. */
function restrictTools(sent: Json, { tool_choice: choice, tools }: Json, quirks: Quirks): void {
  if (!isObject(choice) || choice.type !== 'allowed_tools' || !isObject(choice.allowed_tools)) return;
  const { mode, tools: named } = choice.allowed_tools;
  const names = new Set(objectsOf(named).map(toolName));
  sent.tools = objectsOf(tools).filter((tool) => names.has(toolName(tool)));
  sent.tool_choice = mode === 'required' ? quirks.requiredToolChoice : 'auto';
  if (isEmptyList(sent.tools)) removeTools(sent);
}

function toolName(tool: Json): unknown {
  return objectOf(tool.function)?.name ?? objectOf(tool.custom)?.name;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

const outputFields = ['max_completion_tokens', 'max_tokens'] as const;

function limitOutput(sent: Json, outputTokensMax: number | undefined, quirks: Quirks): void {
  const requested = outputFields.find((field) => sent[field] !== undefined && sent[field] !== null);
  const value = outputTokensMax ?? (requested && sent[requested]);
  if (value === undefined) return;
  for (const field of outputFields) sent[field] = undefined;
  sent[outputTokensField(quirks, String(sent.model), requested)] = value;
}

function withUsage(options: unknown): Json {
  return isObject(options) ? { ...options, include_usage: true } : { include_usage: true };
}

/** The messages without what this provider refuses; the same list if nothing changes. */
function relayedMessages(messages: readonly unknown[], quirks: Quirks): readonly unknown[] {
  const hasOutputs = messages.some((message) => isObject(message) && message.role === 'tool');
  const plain = hasOutputs ? withoutToolAttachments(messages) : messages;
  const relayed = mapChanged(plain, (message) =>
    isObject(message) ? relayedMessage(message, quirks) : message,
  );
  return acceptedTurns(relayed, quirks);
}

function relayedMessage(message: Json, quirks: Quirks): Json {
  const { role, tool_call_id: callId, content } = message;
  const changes: Json = role === 'assistant' ? assistantChanges(message, quirks) : {};
  for (const name of nullMembers) if (message[name] === null) changes[name] = undefined;
  if (role !== 'assistant' && Array.isArray(content)) {
    const relayed = mapChanged(content, relayedPart);
    if (relayed !== content) changes.content = relayed;
  }
  if (role === 'developer' && !quirks.supportsDeveloperRole) changes.role = 'system';
  const isJoined = !quirks.supportsTextParts || (role === 'tool' && !quirks.supportsAnyOrder);
  if (isJoined && Array.isArray(content)) changes.content = joinedTexts(changes.content ?? content);
  if (quirks.callIds !== undefined && typeof callId === 'string') {
    const id = callIdFor(callId, quirks);
    if (id !== callId) changes.tool_call_id = id;
  }
  return Object.keys(changes).length === 0 ? message : { ...message, ...changes };
}

/** Templates of many models, and DeepSeek, take the output of a tool as text only. Source: Gitlawb/openclaude#806. */
function joinedTexts(content: unknown): unknown {
  const parts = listOf(content);
  const texts = objectsOf(parts).map(({ type, text }) => (type === 'text' ? text : undefined));
  return texts.length === parts.length && texts.every((text) => typeof text === 'string')
    ? texts.join('\n\n')
    : parts;
}

/** Some SDKs write all members of a message, which strict providers refuse to be null. */
const nullMembers = ['name', 'tool_calls', 'tool_call_id'];

/** Clients write the URL of an image as text, too, and go by the name of its file. */
function relayedPart(part: unknown): unknown {
  if (!isObject(part) || part.type !== 'image_url') return part;
  const { image_url: image } = part;
  if (typeof image === 'string') return { ...part, image_url: { url: imageUrl(image) } };
  const url = isObject(image) && typeof image.url === 'string' ? image.url : '';
  const real = imageUrl(url);
  return real === url ? part : { ...part, image_url: { ...(image as Json), url: real } };
}

const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'];
/** Fields that answers and SDKs add to a message, and strict providers refuse when it is sent back. */
const answerFields = ['parsed', 'annotations'];
const emptyFields = ['refusal', 'audio', 'function_call'];
/** Some SDKs copy an answer's members into its text part. */
const messageFields = new Set(['role', ...answerFields, ...emptyFields, ...reasoningFields]);

function assistantChanges(message: Json, quirks: Quirks): Json {
  const changes: Json = {};
  for (const field of reasoningFields) {
    if (field in message && !quirks.reasoningFields.includes(field)) changes[field] = undefined;
  }
  for (const field of answerFields) if (field in message) changes[field] = undefined;
  for (const field of emptyFields) if (message[field] === null) changes[field] = undefined;
  const needed = message.reasoning_content || reasoningFor(message, quirks);
  if (needed !== undefined && needed !== message.reasoning_content) changes.reasoning_content = needed;
  const { content, tool_calls: calls } = message;
  if (Array.isArray(calls)) {
    const relayed = mapChanged(calls, (call) => relayedCall(call, quirks));
    if (relayed !== calls || calls.length === 0) changes.tool_calls = calls.length > 0 ? relayed : undefined;
  }
  const hasCalls = !isEmptyList(calls) && Array.isArray(calls);
  if (Array.isArray(content)) {
    const said = content.some(isBlankText) ? content.filter((part) => !isBlankText(part)) : content;
    const plain = mapChanged(said, plainPart);
    // OpenAI refuses an empty list, which Cursor sends beside calls. Source: archestra-ai/archestra#7375.
    if (plain !== content || plain.length === 0)
      changes.content = plain.length > 0 ? plain : hasCalls ? null : '';
  } else if (typeof content === 'string' && content !== '' && content.trim() === '') {
    changes.content = hasCalls ? null : '';
  }
  // An answer without any content would be refused when sent back.
  const own = isEmptyList(calls) ? undefined : calls;
  if ((content ?? own ?? message.function_call ?? message.audio ?? null) === null) changes.content = '';
  return changes;
}

/** Removes members added by SDKs, replaces arguments that servers fail to parse, and shortens the id. */
function relayedCall(call: unknown, quirks: Quirks): unknown {
  if (!isObject(call)) return call;
  const called = call.function;
  const args = isObject(called) ? relayedArguments(called.arguments) : undefined;
  const isIrregular = isObject(called) && ('parsed_arguments' in called || args !== called.arguments);
  const id = typeof call.id === 'string' ? callIdFor(call.id, quirks) : call.id;
  const isRenamed = id !== call.id;
  if (!isIrregular && !isRenamed) return call;
  const relayed = { ...call };
  if (isRenamed) relayed.id = id;
  if (isIrregular) {
    const { parsed_arguments: _parsed, ...rest } = called;
    relayed.function = { ...rest, arguments: args };
  }
  return relayed;
}

function relayedArguments(args: unknown): unknown {
  if (isObject(args)) return JSON.stringify(args);
  return typeof args === 'string' ? readableArguments(args) : args || '{}';
}

function plainPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  const own = Object.entries(part).filter(([name]) => !messageFields.has(name) || name === part.type);
  return own.length === Object.keys(part).length ? part : Object.fromEntries(own);
}

/** The body for callers of another format, always streamed. */
export function neutralBody(call: UpstreamCall, provider: string, quirks: Quirks): Json {
  const { inference, model, outputTokensMax } = call;
  const isMarked = quirks.supportsCacheControl && cachesMarkedOnly(model);
  const written = chatMessages(inference, { provider, model, quirks, isMarked });
  const mark = isMarked && !hasMarks(inference.items) ? automaticMark(inference) : undefined;
  const messages = mark ? markedEnds(written, mark) : written;
  if (isMarked)
    limitMarks(
      messages.flatMap(({ content }) => objectsOf(content)),
      { most: cacheMarksMax },
    );
  const body: Json = {
    model,
    messages: acceptedTurns(messages, quirks),
    stream: true,
  };
  if (quirks.supportsStreamOptions) body.stream_options = { include_usage: true };
  const limit = outputTokensMax ?? inference.outputTokensMax;
  if (limit !== undefined) body[outputTokensField(quirks, model)] = limit;
  addTools(body, inference, quirks);
  addSampling(body, inference.sampling, quirks);
  if (inference.format !== undefined) body.response_format = responseFormat(inference.format);
  const effort = inference.reasoning?.effort;
  if (effort !== undefined) body[quirks.effort] = quirks.effort === 'reasoning' ? { effort } : effort;
  if (inference.verbosity !== undefined && quirks.supportsVerbosity) body.verbosity = inference.verbosity;
  leaveOutRefused(body, inference, quirks);
  return body;
}

/** Leaves out of a body what its model has turned out to refuse. */
function leaveOutRefused(body: Json, { toolChoice: choice }: Inference, quirks: Quirks): void {
  if (!quirks.supportsStrictTools) body.tools = withoutStrict(body.tools);
  if (quirks.toolSchemas !== 'any') {
    const written = quirks.toolSchemas === 'plain' ? plainSchema : grammarSchema;
    body.tools = withFunctions(body.tools, (named) =>
      isObject(named.parameters) ? { ...named, parameters: written(named.parameters) } : named,
    );
  }
  if (!quirks.supportsLongDescriptions) body.tools = withShortDescriptions(body.tools);
  if (!quirks.supportsNamedTool && choice?.mode === 'function') {
    body.tools = objectsOf(body.tools).filter((tool) => toolName(tool) === choice.name);
    body.tool_choice = quirks.requiredToolChoice;
  }
  if (quirks.thinksBeforeForcedCalls || choice === undefined) return;
  if (choice.mode !== 'function' && !isRequired(choice)) return;
  // The call is what the caller demands; how long a model thinks only tunes it.
  body.thinking = { type: 'disabled' };
  body[quirks.effort] = undefined;
}

/** Whether some tool must be called. */
function isRequired(choice: ToolChoice): boolean {
  return choice.mode === 'required' || (choice.mode === 'allowed' && choice.required);
}

function addTools(body: Json, inference: Inference, quirks: Quirks): void {
  const { toolChoice, parallelToolCalls } = inference;
  const allowed = toolChoice?.mode === 'allowed' ? new Set(toolChoice.names) : undefined;
  const tools = inference.tools.flatMap((tool) =>
    tool.type === 'function' && (allowed?.has(tool.name) ?? true) ? [chatTool(tool)] : [],
  );
  // Without tools, `tool_choice` is refused.
  if (tools.length === 0) return;
  body.tools = tools;
  if (toolChoice !== undefined) body.tool_choice = chatToolChoice(toolChoice, quirks);
  if (parallelToolCalls !== undefined) body.parallel_tool_calls = parallelToolCalls;
}

function chatTool(tool: Extract<Tool, { type: 'function' }>): Json {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: functionParameters(tool.parameters),
      strict: tool.strict,
    },
  };
}

function chatToolChoice(choice: ToolChoice, quirks: Quirks): unknown {
  if (choice.mode === 'function') return { type: 'function', function: { name: choice.name } };
  if (isRequired(choice)) return quirks.requiredToolChoice;
  return choice.mode === 'allowed' ? 'auto' : choice.mode;
}

function addSampling(body: Json, sampling: Sampling, quirks: Quirks): void {
  body.temperature = sampling.temperature;
  body.top_p = sampling.topP;
  if (quirks.supportsTopK) body.top_k = sampling.topK;
  body.presence_penalty = sampling.presencePenalty;
  body.frequency_penalty = sampling.frequencyPenalty;
  body.stop = sampling.stop;
  body[quirks.seedField] = sampling.seed;
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
