import { sealedPrefix } from './fake-openai-responses.ts';
import type { FakeError } from './fake-openai-script.ts';

type Json = Record<string, unknown>;

const chatFields = new Set(
  (
    'model messages stream stream_options temperature top_p n stop max_tokens max_completion_tokens presence_penalty ' +
    'frequency_penalty logit_bias logprobs top_logprobs seed user tools tool_choice parallel_tool_calls ' +
    'response_format reasoning_effort verbosity modalities audio prediction store metadata service_tier ' +
    'prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier web_search_options functions function_call'
  ).split(' '),
);
const responsesFields = new Set(
  (
    'model input instructions previous_response_id include tools tool_choice metadata text temperature top_p ' +
    'parallel_tool_calls stream background store stream_options max_output_tokens max_tool_calls top_logprobs ' +
    'reasoning safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options truncation ' +
    'service_tier conversation prompt context_management moderation user client_metadata'
  ).split(' '),
);
const countFields = new Set(
  (
    'model input instructions previous_response_id conversation tools tool_choice parallel_tool_calls reasoning text ' +
    'truncation personality'
  ).split(' '),
);
const messageFields = new Set(
  'role content name refusal tool_calls tool_call_id function_call audio annotations'.split(' '),
);

/** A role and a type of parts that only a newer version of the API has. */
const newRole = 'critic';
const newPart = 'hologram';

class Refusal extends Error {
  readonly error: FakeError;

  constructor(param: string | null, message: string, code: string | null = null, status = 400) {
    super(message);
    this.error = { status, type: 'invalid_request_error', code, param, message };
  }
}

/** Why OpenAI would refuse a chat body; undefined if it is valid. */
export function chatFault(body: Json): FakeError | undefined {
  return faultOf(() => {
    checkFields(body, chatFields);
    checkModel(body);
    checkChatModel(body);
    if (!Array.isArray(body.messages) || body.messages.length === 0) {
      throw new Refusal('messages', "Missing required parameter: 'messages'.", 'missing_required_parameter');
    }
    if (body.stream_options != null && body.stream !== true) {
      throw new Refusal(
        'stream_options',
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      );
    }
    if (body.max_tokens != null && body.max_completion_tokens != null) {
      throw new Refusal('max_tokens', 'Setting both max_tokens and max_completion_tokens is not supported.');
    }
    if (body.metadata != null && body.store !== true) {
      throw new Refusal('metadata', "The 'metadata' parameter is only allowed when 'store' is enabled.");
    }
    checkTools(body, (tool) => (isJson(tool.function) ? tool.function.name : undefined));
    checkChatFormat(body.response_format);
    checkMessages(body.messages, { takesThoughts: !isOpenAisOwn(body.model) });
  });
}

/** Why OpenAI would refuse a Responses body; undefined if it is valid. */
export function responsesFault(body: Json): FakeError | undefined {
  return faultOf(() => {
    checkFields(body, responsesFields);
    checkModel(body);
    if (body.previous_response_id != null) {
      throw new Refusal(
        'previous_response_id',
        'Previous response not found.',
        'previous_response_not_found',
      );
    }
    if (typeof body.max_output_tokens === 'number' && body.max_output_tokens < 16) {
      throw new Refusal('max_output_tokens', 'Expected a value >= 16.', 'integer_below_min_value');
    }
    if (isJson(body.reasoning) && body.reasoning.effort != null && /^gpt-[34]/.test(String(body.model))) {
      const message = "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
      throw new Refusal('reasoning.effort', message, 'unsupported_parameter');
    }
    const include = Array.isArray(body.include) ? body.include : [];
    if (include.includes('reasoning.encrypted_content') && /^gpt-[34]/.test(String(body.model))) {
      throw new Refusal('include', 'Encrypted content is not supported with this model.');
    }
    checkTools(body, (tool) => tool.name);
    const format = isJson(body.text) ? body.text.format : undefined;
    if (isJson(format) && format.type === 'json_schema' && (!isJson(format.schema) || !format.name)) {
      throw new Refusal('text.format', "Missing required parameter: 'text.format.name'.");
    }
    if (Array.isArray(body.input)) checkInput(body.input);
    else if (typeof body.input !== 'string')
      throw new Refusal('input', "Missing required parameter: 'input'.");
  });
}

/** Why OpenAI would not count the input of a Responses body; undefined if it would. */
export function countFault(body: Json): FakeError | undefined {
  return faultOf(() => {
    checkFields(body, countFields);
    checkModel(body);
    if (Array.isArray(body.input)) checkInput(body.input);
  });
}

function faultOf(check: () => void): FakeError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.error;
    throw error;
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkFields(body: Json, known: Set<string>): void {
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown) throw new Refusal(unknown, `Unknown parameter: '${unknown}'.`, 'unknown_parameter');
}

/** Models that OpenAI has in its other format only, and options that its models lack in this one. */
function checkChatModel({ model, stop }: Json): void {
  const name = String(model);
  if (!isOpenAisOwn(model)) return;
  if (/^(o\d|gpt-\d(\.\d)?)-(pro|codex)|codex-mini/.test(name)) {
    const message = 'This model is only supported in v1/responses and not in v1/chat/completions.';
    throw new Refusal('model', message, null, 404);
  }
  if (stop != null && /^(o3$|o4|gpt-5)/.test(name)) {
    const message = "Unsupported parameter: 'stop' is not supported with this model.";
    throw new Refusal('stop', message, 'unsupported_parameter');
  }
}

function checkModel(body: Json): void {
  if (typeof body.model !== 'string' || body.model === '') {
    throw new Refusal('model', "Missing required parameter: 'model'.", 'missing_required_parameter');
  }
  const { temperature } = body;
  if (typeof temperature === 'number' && (temperature < 0 || temperature > 2)) {
    throw new Refusal('temperature', 'Invalid temperature.', 'decimal_above_max_value');
  }
}

function checkTools(body: Json, nameOf: (tool: Json) => unknown): void {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  if (tools.length === 0 && body.tool_choice != null && body.tool_choice !== 'none') {
    throw new Refusal('tool_choice', "'tool_choice' is only allowed when 'tools' are specified.");
  }
  for (const [index, tool] of tools.entries()) {
    if (!isJson(tool) || typeof tool.type !== 'string')
      throw new Refusal(`tools[${index}].type`, 'Missing type.');
    if (tool.type !== 'function') continue;
    const name = nameOf(tool);
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      throw new Refusal(`tools[${index}].name`, 'Invalid tool name.', 'invalid_value');
    }
  }
}

function checkChatFormat(format: unknown): void {
  if (!isJson(format) || format.type !== 'json_schema') return;
  const { json_schema: schema } = format;
  if (!isJson(schema) || !schema.name || !isJson(schema.schema)) {
    throw new Refusal(
      'response_format.json_schema',
      "Missing required parameter: 'response_format.json_schema'.",
    );
  }
}

/** OpenAI's own models neither send nor accept thoughts in this format; other models do both. */
function isOpenAisOwn(model: unknown): boolean {
  return /^(gpt|o\d)/.test(String(model));
}

function checkMessages(messages: unknown[], { takesThoughts }: { takesThoughts: boolean }): void {
  const waiting = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!isJson(message)) throw new Refusal(at, 'Expected an object.');
    const known = (name: string) =>
      messageFields.has(name) || (takesThoughts && name === 'reasoning_content');
    const unknown = Object.keys(message).find((name) => !known(name));
    if (unknown)
      throw new Refusal(`${at}.${unknown}`, `Unknown parameter: '${at}.${unknown}'.`, 'unknown_parameter');
    const { role } = message;
    if (!['system', 'developer', 'user', 'assistant', 'tool', 'function', newRole].includes(String(role))) {
      throw new Refusal(`${at}.role`, `Invalid value: '${String(role)}'.`, 'invalid_value');
    }
    if (role === 'tool') {
      if (!waiting.delete(String(message.tool_call_id))) {
        throw new Refusal(
          at,
          "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
        );
      }
    } else if (waiting.size > 0) {
      throw new Refusal(at, "An assistant message with 'tool_calls' must be followed by tool messages.");
    }
    checkContent(message, at);
    for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : [])
      waiting.add(checkedCall(call, at));
  }
  if (waiting.size > 0) throw new Refusal('messages', "'tool_calls' must be followed by tool messages.");
}

function checkContent({ role, content, tool_calls: calls }: Json, at: string): void {
  const isText = typeof content === 'string';
  if (
    role === 'assistant'
      ? !isText && content != null && !Array.isArray(content)
      : !isText && !Array.isArray(content)
  ) {
    throw new Refusal(`${at}.content`, 'Invalid type for content.', 'invalid_type');
  }
  if (role === 'assistant' && content == null && !Array.isArray(calls)) {
    throw new Refusal(`${at}.content`, 'An assistant message needs content or tool_calls.', 'invalid_type');
  }
  const types =
    role === 'user'
      ? ['text', 'image_url', 'file', 'input_audio', newPart]
      : role === 'assistant'
        ? ['text', 'refusal']
        : ['text'];
  for (const part of Array.isArray(content) ? content : []) {
    if (!isJson(part) || !types.includes(String(part.type))) {
      throw new Refusal(
        `${at}.content`,
        `Invalid value: '${isJson(part) ? String(part.type) : ''}'.`,
        'invalid_value',
      );
    }
  }
}

function checkedCall(call: unknown, at: string): string {
  const called = isJson(call) ? call.function : undefined;
  if (!isJson(call) || typeof call.id !== 'string' || call.type !== 'function' || !isJson(called)) {
    throw new Refusal(`${at}.tool_calls`, 'Invalid tool call.');
  }
  if (typeof called.name !== 'string' || typeof called.arguments !== 'string') {
    throw new Refusal(`${at}.tool_calls`, 'Invalid tool call.', 'invalid_type');
  }
  return call.id;
}

function checkInput(input: unknown[]): void {
  const called = new Set<unknown>();
  for (const [index, item] of input.entries()) {
    const at = `input[${index}]`;
    if (!isJson(item)) throw new Refusal(at, 'Expected an object.');
    const type = item.type ?? 'message';
    if (type === 'item_reference')
      throw new Refusal(at, 'Item not found: items are not persisted when store is false.');
    if (type === 'function_call') called.add(item.call_id);
    if (type === 'function_call' && typeof item.arguments !== 'string')
      throw new Refusal(at, 'Invalid arguments.');
    if (type === 'function_call_output' && !called.has(item.call_id)) {
      throw new Refusal(at, 'No tool call found for function call output.');
    }
    if (type === 'reasoning' && !String(item.encrypted_content).startsWith(sealedPrefix)) {
      throw new Refusal(at, 'The encrypted content could not be verified.', 'invalid_encrypted_content');
    }
    if (type === 'message') checkParts(item, at);
  }
}

function checkParts({ role, content }: Json, at: string): void {
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw new Refusal(`${at}.content`, 'Missing content.');
  const types =
    role === 'assistant'
      ? ['output_text', 'refusal']
      : ['input_text', 'input_image', 'input_file', 'input_audio', newPart];
  for (const part of content) {
    if (!isJson(part) || !types.includes(String(part.type))) {
      throw new Refusal(`${at}.content`, 'Invalid value for a content part.', 'invalid_value');
    }
  }
}
