import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import {
  invalid,
  isObject,
  type Json,
  optionalFlag,
  optionalText,
  requiredText,
} from '../../../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../../../shared/faults/not-found.ts';
import {
  type BuiltinTool,
  elsewhereOf,
  type Inference,
  type InputItem,
  type OutputFormat,
  type Sampling,
  type Tool,
  type ToolChoice,
  type ToolName,
  toolKey,
} from '../../../upstreams/neutral.ts';
import { withOwnSpelling } from '../spellings.ts';
import { builtinFunction } from './builtin-tools.ts';

/** Members for the gateway, which keeps the history and generates in the background itself; never sent to a provider. */
const gatewayMembers = new Set([
  ...['service', 'store', 'previous_response_id', 'conversation', 'context_management'],
  ...['background', 'background_options', 'generate', 'type'],
]);

/** Responses body → neutral call. `items` is the resolved input: history first, then the items of this call. */
export function parseResponses(given: CreateResponseBody, items: InputItem[]): Inference {
  const body = isPlain(given) ? given : withOwnSpelling(given, 'responses');
  const added = items.flatMap((item) => elsewhereOf(item) ?? []);
  const tools = [...parseTools(body.tools), ...added.flatMap((each) => each.tools ?? [])];
  const namespaces = allDescriptions([
    namespaceDescriptions(body.tools),
    ...added.map((each) => each.namespaces),
  ]);
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
    ...(namespaces && { namespaces }),
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !gatewayMembers.has(name))),
  };
}

/** Whether tools, the choice among them and the schema of the answer are certainly written as this format has them. */
function isPlain({ tools, tool_choice: choice, text }: CreateResponseBody): boolean {
  const hasNames = tools?.every(({ name, type }) => name !== undefined || type !== 'function') ?? true;
  const isPlainChoice = isObject(choice) ? (choice as Json).name !== undefined : choice !== 'any';
  return hasNames && isPlainChoice && (text?.format?.type !== 'json_schema' || !!text.format.name);
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

/** Parses functions and custom tools, also those in a namespace; other tools stay opaque. */
export function parseTools(tools: unknown, param = 'tools', namespace?: string): Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw invalid(param, 'This must be a list.');
  return tools.flatMap((tool, index) => parseTool(tool, `${param}[${index}]`, namespace));
}

function parseTool(tool: unknown, param: string, namespace: string | undefined): Tool[] {
  if (!isObject(tool)) throw invalid(param, 'A tool must be an object.');
  const within = namespace === undefined ? {} : { namespace };
  switch (tool.type) {
    case 'function':
      return [{ ...parseFunction(tool, param), ...within }];
    case 'custom':
      return [{ ...parseCustom(tool, tool.format, param), param, ...within }];
    case 'namespace':
      return parseTools(tool.tools, `${param}.tools`, nonEmpty(tool.name, `${param}.name`));
    case 'tool_search':
      if (tool.execution === 'client' && isObject(tool.parameters)) return [parseSearch(tool, param)];
      return [{ type: 'opaque', json: tool, param }];
    default:
      return [builtinTool(tool, param) ?? { type: 'opaque', json: tool, param }];
  }
}

function builtinTool(tool: Json, param: string): Tool | undefined {
  const called = builtinFunction(tool);
  return called && { ...parseFunction(called, param), builtin: tool.type as BuiltinTool, json: tool };
}

/** The name by which models of other formats know the search for tools. */
export const searchToolName = 'tool_search';

function parseSearch(tool: Json, param: string): Tool {
  return { ...parseFunction({ ...tool, name: searchToolName }, param), builtin: 'tool_search' };
}

function nonEmpty(value: unknown, param: string): string {
  const text = requiredText(value, param);
  if (text === '') throw invalid(param, 'This must not be empty.');
  return text;
}

/** The common properties of each namespace's tools. */
export function namespaceDescriptions(tools: unknown): Record<string, string> | undefined {
  const described = (Array.isArray(tools) ? tools.filter(isObject) : []).flatMap(
    ({ type, name, description }) =>
      type === 'namespace' && typeof name === 'string' && typeof description === 'string' && description
        ? [[name, description] as const]
        : [],
  );
  return described.length > 0 ? Object.fromEntries(described) : undefined;
}

function allDescriptions(lists: readonly (Readonly<Record<string, string>> | undefined)[]) {
  const all = lists.filter((list) => list !== undefined);
  return all.length > 0 ? (Object.assign({}, ...all) as Record<string, string>) : undefined;
}

/** A custom tool. Both formats use the same members, nested differently; `format` is theirs. */
export function parseCustom(
  tool: Record<string, unknown>,
  format: unknown,
  param: string,
): Extract<Tool, { type: 'custom' }> {
  const grammar = isObject(format) && format.type === 'grammar' ? format : undefined;
  return {
    type: 'custom',
    name: parseName(tool, param),
    description: optionalText(tool.description, `${param}.description`),
    grammar: grammar && {
      syntax: requiredText(grammar.syntax, `${param}.format.syntax`),
      definition: requiredText(grammar.definition, `${param}.format.definition`),
    },
  };
}

function parseName(tool: Record<string, unknown>, param: string): string {
  const name = requiredText(tool.name, `${param}.name`);
  if (!namePattern.test(name))
    throw invalid(`${param}.name`, 'A tool name must be 1 to 128 characters of a-z, A-Z, 0-9, _ and -.');
  return name;
}

/** A function definition. Both formats use the same members, nested differently. */
export function parseFunction(
  tool: Record<string, unknown>,
  param: string,
): Extract<Tool, { type: 'function' }> {
  const name = parseName(tool, param);
  const { parameters } = tool;
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    throw invalid(`${param}.parameters`, 'This must be a JSON schema.');
  return {
    type: 'function',
    name,
    description: optionalText(tool.description, `${param}.description`),
    parameters: isObject(parameters) ? parameters : undefined,
    strict: optionalFlag(tool.strict, `${param}.strict`),
    param,
  };
}

/** `tool_choice` in the Responses format. A forced function must be one of `tools`. */
export function parseToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') return parseToolMode(choice);
  if (!isObject(choice)) throw invalid('tool_choice', 'This must be a string or an object.');
  requiredText(choice.type, 'tool_choice.type');
  if (choice.type === 'function' || choice.type === 'custom')
    return { mode: 'function', ...requireTool(namedTool(choice, 'tool_choice'), tools, 'tool_choice.name') };
  if (choice.type === 'allowed_tools') return parseAllowed(choice, tools);
  const builtin = builtinOf(choice, tools);
  return builtin && { mode: 'function', ...builtin };
}

/** The tool of the format that a choice names by its type; undefined if there is none. */
function builtinOf({ type }: Json, tools: readonly Tool[]): ToolName | undefined {
  for (const tool of tools) {
    if (tool.type === 'function' && tool.builtin !== undefined && tool.builtin === type)
      return { name: tool.name, builtin: tool.builtin };
  }
  return undefined;
}

/** Undefined for an unknown mode. */
export function parseToolMode(choice: string): ToolChoice | undefined {
  return choice === 'none' || choice === 'auto' || choice === 'required' ? { mode: choice } : undefined;
}

/** Returns the name of a tool. Fails with `invalid_request` when `tools` has no such tool. */
export function requireTool(wanted: ToolName, tools: readonly Tool[], param: string): ToolName {
  const found = tools.find((tool) => tool.type !== 'opaque' && toolKey(tool) === toolKey(wanted));
  if (found === undefined || found.type === 'opaque')
    throw invalid(param, `There is no tool named ${quoted(wanted.name)} in tools.`);
  return wanted;
}

/** The tool that an entry of `tool_choice` names. */
function namedTool(entry: Record<string, unknown>, param: string): ToolName {
  const namespace = optionalText(entry.namespace, `${param}.namespace`);
  return {
    name: requiredText(entry.name, `${param}.name`),
    ...(namespace !== undefined && { namespace }),
    ...(entry.type === 'custom' && { custom: true }),
  };
}

function parseAllowed(choice: Record<string, unknown>, tools: readonly Tool[]): ToolChoice {
  if (!Array.isArray(choice.tools)) throw invalid('tool_choice.tools', 'This must be a list.');
  const known = new Set(tools.flatMap((tool) => (tool.type === 'opaque' ? [] : [toolKey(tool)])));
  const names = choice.tools.flatMap((entry, index) => {
    const param = `tool_choice.tools[${index}]`;
    if (!isObject(entry)) throw invalid(param, 'This must be an object.');
    if (entry.type === 'namespace') {
      return tools.flatMap((tool) =>
        tool.type !== 'opaque' && tool.namespace === entry.name ? [toolKey(tool)] : [],
      );
    }
    if (entry.type !== 'function' && entry.type !== 'custom') {
      const builtin = builtinOf(entry, tools);
      return builtin ? [toolKey(builtin)] : [];
    }
    const key = toolKey(namedTool(entry, param));
    if (!known.has(key))
      throw invalid(`${param}.name`, `There is no tool named ${quoted(String(entry.name))} in tools.`);
    return [key];
  });
  return { mode: 'allowed', names, required: choice.mode === 'required' };
}

/** `text.format` of the Responses format; undefined for text and for an unknown type. */
function parseFormat(format: unknown, param: string): OutputFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalid(param, 'This must be an object.');
  if (format.type === 'json_object') return { type: 'json_object' };
  return format.type === 'json_schema' ? parseJsonSchema(format, param) : undefined;
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
