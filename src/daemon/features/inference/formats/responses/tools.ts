import { invalid, isObject, optionalFlag, optionalText, quoted, requiredText } from '../../fault.ts';
import type { OutputFormat, Tool, ToolChoice } from '../../neutral.ts';

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

/** `tools`: functions are understood; everything else reaches only providers that know it. */
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

/** A function's name, description and parameters; the two formats nest them differently but name them alike. */
export function parseFunction(tool: Record<string, unknown>, param: string): Tool {
  const name = requiredText(tool.name, `${param}.name`);
  if (!namePattern.test(name))
    throw invalid(
      `${param}.name`,
      'A function’s name has 1 to 128 of the characters a-z, A-Z, 0-9, _ and -.',
    );
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

/** `tool_choice` in the Responses format. A forced tool must be among those offered. */
export function parseToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') return parseMode(choice);
  if (!isObject(choice)) throw invalid('tool_choice', 'This must be a string or an object.');
  requiredText(choice.type, 'tool_choice.type');
  if (choice.type === 'function') {
    const name = requiredText(choice.name, 'tool_choice.name');
    return { mode: 'function', name: offered(name, tools, 'tool_choice.name') };
  }
  if (choice.type === 'allowed_tools') return parseAllowed(choice, tools);
  return undefined;
}

/** `none`, `auto` or `required`. */
export function parseMode(choice: string): ToolChoice {
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice };
  throw invalid('tool_choice', 'This must be none, auto, required or an object that names a tool.');
}

/** The name of a function that is among those offered. */
export function offered(name: string, tools: readonly Tool[], param: string): string {
  return offeredIn(namesOf(tools), name, param);
}

function namesOf(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : [])));
}

function offeredIn(names: ReadonlySet<string>, name: string, param: string): string {
  if (!names.has(name)) throw invalid(param, `No tool named ${quoted(name)} is offered in tools.`);
  return name;
}

function parseAllowed(choice: Record<string, unknown>, tools: readonly Tool[]): ToolChoice {
  if (!Array.isArray(choice.tools)) throw invalid('tool_choice.tools', 'This must be a list.');
  const known = namesOf(tools);
  const names = choice.tools.flatMap((tool, index) => {
    const param = `tool_choice.tools[${index}]`;
    if (!isObject(tool)) throw invalid(param, 'This must be an object.');
    return tool.type === 'function'
      ? [offeredIn(known, requiredText(tool.name, `${param}.name`), `${param}.name`)]
      : [];
  });
  return { mode: 'allowed', names, required: choice.mode === 'required' };
}

/** `text.format` in the Responses format, and the inside of `response_format` in the chat format. */
export function parseFormat(format: unknown, param: string): OutputFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalid(param, 'This must be an object.');
  if (format.type === 'text' || format.type === undefined) return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema')
    throw invalid(`${param}.type`, 'This must be text, json_object or json_schema.');
  return parseJsonSchema(format, param);
}

/** A named schema that the answer must fit. */
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
