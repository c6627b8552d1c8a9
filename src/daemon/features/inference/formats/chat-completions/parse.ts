import type { CreateChatCompletionBody } from '../../../../../shared/contract/chat-completions.ts';
import { invalid, isObject, requiredText } from '../../fault.ts';
import type { Inference, OutputFormat, Sampling, Tool, ToolChoice } from '../../neutral.ts';
import { offered, parseFunction, parseJsonSchema, parseMode } from '../responses/tools.ts';
import { type OpenSealed, parseMessages, withoutSealed } from './messages.ts';

/** Chat-completions body → neutral call. */
export function parseChat(body: CreateChatCompletionBody, open: OpenSealed): Inference {
  const { service: _service, ...rest } = body;
  const tools = parseChatTools(body);
  const messages = withoutSealed(body.messages);
  const verbosity = body.verbosity;
  return {
    wire: 'chat',
    model: body.model,
    stream: body.stream === true,
    items: parseMessages(body.messages, open),
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

function parseChatTools(body: CreateChatCompletionBody): Tool[] {
  const tools = (body.tools ?? []).map((tool, index): Tool => {
    const called = (tool as Record<string, unknown>).function;
    requiredText(tool.type, `tools[${index}].type`);
    if (tool.type !== 'function') return { type: 'opaque', json: tool };
    if (!isObject(called)) throw invalid(`tools[${index}].function`, 'This must be an object.');
    return parseFunction(called, `tools[${index}].function`);
  });
  const { functions } = body as Record<string, unknown>;
  if (!Array.isArray(functions)) return tools;
  const legacy = functions.map((called, index) => {
    if (!isObject(called)) throw invalid(`functions[${index}]`, 'This must be an object.');
    return parseFunction(called, `functions[${index}]`);
  });
  return [...tools, ...legacy];
}

function parseChatToolChoice(body: CreateChatCompletionBody, tools: readonly Tool[]): ToolChoice | undefined {
  const choice = body.tool_choice ?? legacyChoice(body);
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') return parseMode(choice);
  requiredText(choice.type, 'tool_choice.type');
  if (choice.type === 'function') {
    const called = choice.function;
    if (!isObject(called)) throw invalid('tool_choice.function', 'This must be an object.');
    const param = 'tool_choice.function.name';
    return { mode: 'function', name: offered(requiredText(called.name, param), tools, param) };
  }
  if (choice.type === 'allowed_tools' && isObject(choice.allowed_tools)) return allowed(choice.allowed_tools);
  return undefined;
}

/** The older form, in which a choice among `functions` was told. */
function legacyChoice({
  function_call: choice,
}: Record<string, unknown>): CreateChatCompletionBody['tool_choice'] {
  if (typeof choice === 'string') return choice;
  return isObject(choice) ? { type: 'function', function: choice } : undefined;
}

function allowed(choice: Record<string, unknown>): ToolChoice {
  const named = Array.isArray(choice.tools) ? choice.tools : [];
  const names = named.flatMap((tool) => {
    const called = isObject(tool) && isObject(tool.function) ? tool.function.name : undefined;
    return typeof called === 'string' ? [called] : [];
  });
  return { mode: 'allowed', names, required: choice.mode === 'required' };
}

function parseResponseFormat(format: unknown): OutputFormat | undefined {
  if (!isObject(format) || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema')
    throw invalid('response_format.type', 'This must be text, json_object or json_schema.');
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
  if (typeof body.seed === 'number') sampling.seed = body.seed;
  if (typeof body.stop === 'string') sampling.stop = [body.stop];
  else if (Array.isArray(body.stop)) sampling.stop = body.stop;
  if (body.logprobs === true) sampling.topLogprobs = body.top_logprobs ?? 0;
  return sampling;
}
