import type { CreateChatCompletionBody } from '../../../../../shared/contract/chat-completions.ts';
import {
  argumentsText,
  invalid,
  isObject,
  type Json,
  notSealedHere,
  optionalText,
  requiredText,
  unsupportedPart,
} from '../../../../../shared/faults/invalid-request.ts';
import { pictureInChat, pictureItem } from '../../../../../shared/formats/pictures.ts';
import { looksSealed } from '../../../calls/index.ts';
import {
  type ContentPart,
  cacheMarkIn,
  type FunctionOutputItem,
  type Inference,
  type InputItem,
  type OutputFormat,
  type Sampling,
  type Tool,
  type ToolChoice,
} from '../../../upstreams/neutral.ts';
import {
  parseCustom,
  parseFunction,
  parseJsonSchema,
  parseToolMode,
  requireTool,
} from '../responses/parse.ts';
import { checkArguments, type OpenSealed, unknownPart, uploadOf } from '../responses/parse-input.ts';
import { withOwnSpelling } from '../spellings.ts';

/** Chat-completions body → neutral call. */
export function parseChat(given: CreateChatCompletionBody, open: OpenSealed): Inference {
  const body = withOwnSpelling(withoutNoLimit(given), 'chat');
  const { service: _service, ...rest } = body;
  const tools = parseChatTools(body);
  const messages = withoutSealed(body.messages);
  const verbosity = body.verbosity;
  const items = parseMessages(body.messages, open);
  checkArguments(items, 'messages');
  return {
    wire: 'chat',
    model: body.model,
    stream: body.stream === true,
    items,
    instructions: undefined,
    tools,
    toolChoice: parseChatToolChoice(body, tools),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    format: parseResponseFormat(body.response_format),
    verbosity: verbosity === 'low' || verbosity === 'medium' || verbosity === 'high' ? verbosity : undefined,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    sampling: samplingOf(body),
    reasoning: body.reasoning_effort ? { effort: body.reasoning_effort, summary: undefined } : undefined,
    body: messages === body.messages ? rest : { ...rest, messages },
  };
}

const limits = ['max_tokens', 'max_completion_tokens'] as const;

/** LM Studio and llama.cpp take -1 for no limit, and clients were made for them. Source: eternalai-org/eternal-zoo#14. */
function withoutNoLimit(body: CreateChatCompletionBody): CreateChatCompletionBody {
  if (limits.every((limit) => body[limit] !== -1)) return body;
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== -1 || !limits.some((limit) => limit === name)),
  ) as CreateChatCompletionBody;
}

function parseChatTools(body: CreateChatCompletionBody): Tool[] {
  const tools = (body.tools ?? []).map((tool, index): Tool => {
    const called = (tool as Record<string, unknown>).function;
    requiredText(tool.type, `tools[${index}].type`);
    if (tool.type === 'custom') return parseChatCustom(tool, `tools[${index}]`);
    if (tool.type !== 'function') return { type: 'opaque', json: tool, param: `tools[${index}]` };
    if (!isObject(called)) throw invalid(`tools[${index}].function`, 'This must be an object.');
    return { ...parseFunction(called, `tools[${index}].function`), ...cacheMarkIn(tool, called) };
  });
  const { functions } = body as Record<string, unknown>;
  if (!Array.isArray(functions)) return tools;
  const legacy = functions.map((called, index) => {
    if (!isObject(called)) throw invalid(`functions[${index}]`, 'This must be an object.');
    return parseFunction(called, `functions[${index}]`);
  });
  return [...tools, ...legacy];
}

function parseChatCustom(tool: Json, param: string): Tool {
  const { custom } = tool;
  if (!isObject(custom)) throw invalid(`${param}.custom`, 'This must be an object.');
  const format = isObject(custom.format) ? custom.format : {};
  const grammar = isObject(format.grammar) ? format.grammar : {};
  return parseCustom(custom, { ...format, ...grammar, type: format.type }, `${param}.custom`);
}

function parseChatToolChoice(body: CreateChatCompletionBody, tools: readonly Tool[]): ToolChoice | undefined {
  const choice: unknown = body.tool_choice ?? legacyChoice(body);
  if (typeof choice === 'string') return parseToolMode(choice);
  if (!isObject(choice)) return undefined;
  requiredText(choice.type, 'tool_choice.type');
  if (choice.type === 'function' || choice.type === 'custom') {
    const called = choice[choice.type];
    if (!isObject(called)) throw invalid(`tool_choice.${choice.type}`, 'This must be an object.');
    const param = `tool_choice.${choice.type}.name`;
    const name = requiredText(called.name, param);
    const wanted = { name, ...(choice.type === 'custom' && { custom: true as const }) };
    return { mode: 'function', ...requireTool(wanted, tools, param) };
  }
  if (choice.type === 'allowed_tools' && isObject(choice.allowed_tools)) return allowed(choice.allowed_tools);
  return undefined;
}

/** The deprecated `function_call`, a choice among `functions`. */
function legacyChoice({ function_call: choice }: Record<string, unknown>): unknown {
  return isObject(choice) ? { type: 'function', function: choice } : choice;
}

function allowed(choice: Record<string, unknown>): ToolChoice {
  const named = Array.isArray(choice.tools) ? choice.tools : [];
  const names = named.flatMap((tool) => {
    const named = isObject(tool) ? (tool.function ?? tool.custom) : undefined;
    return isObject(named) && typeof named.name === 'string' ? [named.name] : [];
  });
  return { mode: 'allowed', names, required: choice.mode === 'required' };
}

function parseResponseFormat(format: unknown): OutputFormat | undefined {
  if (!isObject(format)) return undefined;
  // With a schema, as llama.cpp, Together and Fireworks have it.
  if (format.type === 'json_object' && isObject(format.schema))
    return parseJsonSchema({ name: 'answer', schema: format.schema }, 'response_format');
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema') return undefined;
  const param = 'response_format.json_schema';
  if (!isObject(format.json_schema)) throw invalid(param, 'This must be an object.');
  return parseJsonSchema(format.json_schema, param);
}

function samplingOf(body: CreateChatCompletionBody): Sampling {
  const sampling: Sampling = {};
  if (typeof body.temperature === 'number') sampling.temperature = body.temperature;
  if (typeof body.top_p === 'number') sampling.topP = body.top_p;
  if (typeof body.presence_penalty === 'number') sampling.presencePenalty = body.presence_penalty;
  if (typeof body.frequency_penalty === 'number') sampling.frequencyPenalty = body.frequency_penalty;
  const { top_k: topK } = body as Record<string, unknown>;
  if (typeof topK === 'number') sampling.topK = topK;
  if (typeof body.seed === 'number') sampling.seed = body.seed;
  const stop = stopOf(body.stop);
  if (stop.length > 0) sampling.stop = stop;
  if (body.logprobs === true) sampling.topLogprobs = body.top_logprobs ?? 0;
  return sampling;
}

function stopOf(stop: CreateChatCompletionBody['stop']): string[] {
  const isList = Array.isArray(stop);
  const texts = isList ? stop : typeof stop === 'string' ? [stop] : [];
  const empty = texts.indexOf('');
  if (empty >= 0) throw invalid(isList ? `stop[${empty}]` : 'stop', 'A stop sequence must not be empty.');
  return texts;
}

/** `format` of `reasoning_details` entries that this gateway sealed. */
export const sealedFormat = 'gateway-sealed-v1';

const partTypes = new Set([
  ...['text', 'refusal', 'image_url', 'input_audio', 'file'],
  // Some providers put reasoning into the content of assistant messages; it is not part of the message.
  ...['thinking', 'reasoning'],
]);

/**
 * Chat messages → neutral items. A tool message becomes a tool output; each tool call becomes an item. Messages of unknown
 * roles or with unknown parts become opaque.
 */
export function parseMessages(messages: readonly Json[], open: OpenSealed): InputItem[] {
  const items: InputItem[] = [];
  const calls = new Map<unknown, 'custom' | 'opaque'>();
  let legacyCalls = 0;
  messages.forEach((message, index) => {
    const param = `messages[${index}]`;
    const unknown = unknownPart(message.content, `${param}.content`, partTypes);
    if (unknown !== undefined) {
      items.push({ type: 'opaque', wire: 'chat', json: message, param, unknown });
      return;
    }
    switch (message.role) {
      case 'user':
      case 'system':
      case 'developer':
        items.push({
          type: 'message',
          role: message.role,
          content: parseChatContent(message.content, `${param}.content`),
          ...cacheMarkIn(message),
        });
        break;
      case 'assistant':
        items.push(...parseAssistant(message, param, { open, calls, legacyCallId: `legacy_${legacyCalls}` }));
        if (isObject(message.function_call)) legacyCalls += 1;
        break;
      case 'tool': {
        const callId = requiredText(message.tool_call_id, `${param}.tool_call_id`);
        const kind = calls.get(callId);
        if (kind === 'opaque') items.push({ type: 'opaque', wire: 'chat', json: message, param });
        else
          items.push({ ...toolOutput(callId, message, param), ...(kind === 'custom' && { custom: true }) });
        break;
      }
      case 'function':
        items.push(toolOutput(`legacy_${legacyCalls - 1}`, message, param));
        break;
      default:
        requiredText(message.role, `${param}.role`);
        items.push({ type: 'opaque', wire: 'chat', json: message, param, unknown: `${param}.role` });
    }
  });
  return items;
}

function toolOutput(callId: string, message: Json, param: string): FunctionOutputItem {
  return {
    type: 'function_call_output',
    callId,
    output: parseChatContent(message.content, `${param}.content`),
    ...cacheMarkIn(message),
  };
}

interface AssistantOptions {
  open: OpenSealed;
  /** Filled with the ids of calls of tools that are not functions. */
  calls: Map<unknown, 'custom' | 'opaque'>;
  legacyCallId: string;
}

function parseAssistant(message: Json, param: string, options: AssistantOptions): InputItem[] {
  const { open, calls: known, legacyCallId } = options;
  const items = parseReasoning(message, param, open);
  const content = parseChatContent(message.content, `${param}.content`);
  const refusal = optionalText(message.refusal, `${param}.refusal`);
  if (refusal !== undefined) content.push({ type: 'refusal', refusal });
  if (content.length > 0) items.push({ type: 'message', role: 'assistant', content });
  for (const image of Array.isArray(message.images) ? message.images : []) {
    const picture = pictureInChat(image);
    if (picture) items.push({ type: 'opaque', wire: 'responses', json: pictureItem(picture) });
  }
  const calls = message.tool_calls ?? [];
  if (!Array.isArray(calls)) throw invalid(`${param}.tool_calls`, 'This must be a list.');
  calls.forEach((call, index) => {
    const at = `${param}.tool_calls[${index}]`;
    if (!isObject(call)) throw invalid(at, 'This must be an object.');
    const callId = requiredText(call.id, `${at}.id`);
    if (call.type === 'custom') {
      known.set(callId, 'custom');
      items.push(customCall(callId, call.custom, `${at}.custom`));
    } else if (typeof call.type === 'string' && call.type !== 'function') {
      known.set(callId, 'opaque');
      items.push({ type: 'opaque', wire: 'chat', json: call, param: at });
    } else items.push(functionCall(callId, call.function, `${at}.function`));
  });
  if (isObject(message.function_call))
    items.push(functionCall(legacyCallId, message.function_call, `${param}.function_call`));
  const mark = cacheMarkIn(message);
  const last = mark && items.findLast(({ type }) => type === 'message' || type === 'function_call');
  if (last) Object.assign(last, mark);
  return items;
}

function customCall(callId: string, called: unknown, param: string): InputItem {
  if (!isObject(called)) throw invalid(param, 'This must be an object.');
  return {
    type: 'function_call',
    callId,
    name: requiredText(called.name, `${param}.name`),
    arguments: requiredText(called.input, `${param}.input`),
    custom: true,
  };
}

function functionCall(callId: string, called: unknown, param: string): InputItem {
  if (!isObject(called)) throw invalid(param, 'This must be an object.');
  return {
    type: 'function_call',
    callId,
    name: requiredText(called.name, `${param}.name`),
    arguments: argumentsText(called.arguments, `${param}.arguments`),
  };
}

/**
 * Reasoning that a client sends back. Only reasoning sealed by this gateway has an origin; other `reasoning_details` are
 * useful to their own provider only, which gets the message unchanged.
 */
function parseReasoning(message: Json, param: string, open: OpenSealed): InputItem[] {
  const items: InputItem[] = [];
  const details = Array.isArray(message.reasoning_details) ? message.reasoning_details : [];
  details.forEach((detail, index) => {
    if (!isObject(detail) || typeof detail.data !== 'string' || !looksSealed(detail.data)) return;
    const origin = open(detail.data);
    if (!origin) throw notSealedHere(`${param}.reasoning_details[${index}].data`);
    items.push({ type: 'reasoning', summary: [], origin });
  });
  const text = message.reasoning_content ?? message.reasoning;
  if (items.length === 0 && typeof text === 'string' && text !== '')
    items.push({ type: 'reasoning', summary: [text], origin: undefined });
  return items;
}

/** The messages without reasoning that this gateway sealed, which no provider understands. */
function withoutSealed(messages: readonly Json[]): readonly Json[] {
  if (!messages.some((message) => Array.isArray(message.reasoning_details))) return messages;
  return messages.map((message) => {
    if (!Array.isArray(message.reasoning_details)) return message;
    const { reasoning_details: details, ...rest } = message;
    const foreign = details.filter((detail) => !isObject(detail) || detail.format !== sealedFormat);
    return foreign.length > 0 ? { ...rest, reasoning_details: foreign } : rest;
  });
}

/** Content of a chat message: a string, a list of parts, or nothing. */
function parseChatContent(content: unknown, param: string): ContentPart[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'This must be a string or a list of parts.');
  return content.flatMap((part, index) => parsePart(part, `${param}[${index}]`));
}

function parsePart(part: unknown, param: string): ContentPart[] {
  if (!isObject(part)) throw invalid(param, 'A content part must be an object.');
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: requiredText(part.text, `${param}.text`), ...cacheMarkIn(part) }];
    case 'refusal':
      return [{ type: 'refusal', refusal: requiredText(part.refusal, `${param}.refusal`) }];
    case 'image_url':
      return [{ ...parseImage(part.image_url, `${param}.image_url`), ...cacheMarkIn(part) }];
    case 'input_audio':
      return [parseAudio(part.input_audio, `${param}.input_audio`)];
    case 'file':
      return [{ ...parseFile(part.file, `${param}.file`), ...cacheMarkIn(part) }];
    case 'thinking':
    case 'reasoning':
      return [];
    default:
      throw unsupportedPart(requiredText(part.type, `${param}.type`), param);
  }
}

function parseImage(value: unknown, param: string): ContentPart {
  const image = typeof value === 'string' ? { url: value } : value;
  if (!isObject(image)) throw invalid(param, 'This must be an object with a url.');
  const urlParam = image === value ? `${param}.url` : param;
  const url = requiredText(image.url, urlParam);
  if (!/^(data:|https?:\/\/)/i.test(url)) throw invalid(urlParam, 'This must be an http(s) or data URL.');
  // Some clients send all attachments so.
  if (/^data:application\/pdf[;,]/i.test(url)) return parseFile({ file_data: url }, param);
  const detail = optionalText(image.detail, `${param}.detail`);
  return { type: 'image', url, ...(detail === undefined ? {} : { detail }) };
}

function parseAudio(value: unknown, param: string): ContentPart {
  if (!isObject(value)) throw invalid(param, 'This must be an object.');
  return {
    type: 'audio',
    data: requiredText(value.data, `${param}.data`),
    format: requiredText(value.format, `${param}.format`),
  };
}

/** A file by its data or, as OpenRouter and OpenAI's documentation have it, by its address. */
function parseFile(value: unknown, param: string): ContentPart {
  if (!isObject(value)) throw invalid(param, 'This must be an object.');
  const upload = uploadOf(value, param);
  if (upload) return { type: 'file', upload };
  const given = optionalText(value.filename, `${param}.filename`);
  const data = optionalText(value.file_data ?? value.file_url, `${param}.file_data`);
  if (data === undefined) throw invalid(`${param}.file_data`, 'A file needs file_data, file_url or file_id.');
  const filename = given ?? (/^(data:application\/pdf[;,]|JVBERi0)/i.test(data) ? 'document.pdf' : undefined);
  const named = filename === undefined ? {} : { filename };
  return { type: 'file', ...(/^https?:\/\//i.test(data) ? { url: data } : { data }), ...named };
}
