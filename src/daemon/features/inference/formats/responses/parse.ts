import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import { invalid, isObject, optionalFlag, optionalText, quoted, requiredText } from '../../fault.ts';
import type { Inference, InputItem, OutputFormat, Sampling, Tool, ToolChoice } from '../../neutral.ts';

/** Members for the gateway, never sent to a provider. */
const gatewayMembers = new Set([
  ...['service', 'store', 'previous_response_id', 'background', 'conversation', 'context_management'],
]);

/** Responses body → neutral call. `items` is the resolved input: history first, then the items of this call. */
export function parseResponses(body: CreateResponseBody, items: InputItem[]): Inference {
  const tools = parseTools(body.tools);
  const text = isObject(body.text) ? body.text : {};
  const verbosity = optionalText(text.verbosity, 'text.verbosity');
  return {
    wire: 'responses',
    model: body.model,
    stream: body.stream === true,
    items,
    instructions: body.instructions ?? undefined,
    tools,
    toolChoice: parseToolChoice(body.tool_choice, tools),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    format: parseFormat(text.format, 'text.format'),
    verbosity: verbosity === 'low' || verbosity === 'medium' || verbosity === 'high' ? verbosity : undefined,
    outputTokensMax: body.max_output_tokens ?? undefined,
    sampling: samplingOf(body),
    reasoning: body.reasoning
      ? { effort: body.reasoning.effort ?? undefined, summary: body.reasoning.summary ?? undefined }
      : undefined,
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !gatewayMembers.has(name))),
  };
}

export function requireInput(body: CreateResponseBody): void {
  if (body.input === undefined && !body.previous_response_id && !isObject(body.prompt))
    throw invalid('input', 'A request needs input.');
}

function samplingOf(body: CreateResponseBody): Sampling {
  const sampling: Sampling = {};
  if (typeof body.temperature === 'number') sampling.temperature = body.temperature;
  if (typeof body.top_p === 'number') sampling.topP = body.top_p;
  if (typeof body.presence_penalty === 'number') sampling.presencePenalty = body.presence_penalty;
  if (typeof body.frequency_penalty === 'number') sampling.frequencyPenalty = body.frequency_penalty;
  const wantsLogprobs =
    body.include?.includes('message.output_text.logprobs') || (body.top_logprobs ?? 0) > 0;
  if (wantsLogprobs) sampling.topLogprobs = body.top_logprobs ?? 0;
  return sampling;
}

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

/** Parses function tools; other tools stay opaque. */
export function parseTools(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw invalid('tools', 'This must be a list.');
  return tools.map((tool, index) => {
    const param = `tools[${index}]`;
    if (!isObject(tool)) throw invalid(param, 'A tool must be an object.');
    if (tool.type !== 'function') return { type: 'opaque', json: tool };
    return parseFunction(tool, param);
  });
}

/** A function definition. Both formats use the same members, nested differently. */
export function parseFunction(tool: Record<string, unknown>, param: string): Tool {
  const name = requiredText(tool.name, `${param}.name`);
  if (!namePattern.test(name))
    throw invalid(`${param}.name`, 'A function name must be 1 to 128 characters of a-z, A-Z, 0-9, _ and -.');
  const { parameters } = tool;
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    throw invalid(`${param}.parameters`, 'This must be a JSON schema.');
  return {
    type: 'function',
    name,
    description: optionalText(tool.description, `${param}.description`),
    parameters: isObject(parameters) ? parameters : undefined,
    strict: optionalFlag(tool.strict, `${param}.strict`),
  };
}

/** `tool_choice` in the Responses format. A forced function must be one of `tools`. */
export function parseToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') return parseToolMode(choice);
  if (!isObject(choice)) throw invalid('tool_choice', 'This must be a string or an object.');
  requiredText(choice.type, 'tool_choice.type');
  if (choice.type === 'function') {
    const name = requiredText(choice.name, 'tool_choice.name');
    return { mode: 'function', name: requireTool(name, tools, 'tool_choice.name') };
  }
  if (choice.type === 'allowed_tools') return parseAllowed(choice, tools);
  return undefined;
}

export function parseToolMode(choice: string): ToolChoice {
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice };
  throw invalid('tool_choice', 'This must be none, auto, required, or an object that names a tool.');
}

/** Returns the name. Fails with `invalid_request` when no function in `tools` has it. */
export function requireTool(name: string, tools: readonly Tool[], param: string): string {
  return requireName(namesOf(tools), name, param);
}

function namesOf(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : [])));
}

function requireName(names: ReadonlySet<string>, name: string, param: string): string {
  if (!names.has(name)) throw invalid(param, `There is no function named ${quoted(name)} in tools.`);
  return name;
}

function parseAllowed(choice: Record<string, unknown>, tools: readonly Tool[]): ToolChoice {
  if (!Array.isArray(choice.tools)) throw invalid('tool_choice.tools', 'This must be a list.');
  const known = namesOf(tools);
  const names = choice.tools.flatMap((tool, index) => {
    const param = `tool_choice.tools[${index}]`;
    if (!isObject(tool)) throw invalid(param, 'This must be an object.');
    return tool.type === 'function'
      ? [requireName(known, requiredText(tool.name, `${param}.name`), `${param}.name`)]
      : [];
  });
  return { mode: 'allowed', names, required: choice.mode === 'required' };
}

/** `text.format` of the Responses format. */
export function parseFormat(format: unknown, param: string): OutputFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalid(param, 'This must be an object.');
  if (format.type === 'text' || format.type === undefined) return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema')
    throw invalid(`${param}.type`, 'This must be text, json_object or json_schema.');
  return parseJsonSchema(format, param);
}

/** A named schema for structured output. */
export function parseJsonSchema(format: Record<string, unknown>, param: string): OutputFormat {
  if (!isObject(format.schema)) throw invalid(`${param}.schema`, 'This must be a JSON schema.');
  return {
    type: 'json_schema',
    name: requiredText(format.name, `${param}.name`),
    description: optionalText(format.description, `${param}.description`),
    schema: format.schema,
    strict: optionalFlag(format.strict, `${param}.strict`),
  };
}
