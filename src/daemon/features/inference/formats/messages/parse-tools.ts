import { ifValid, invalid, isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import type { OtherFormats, Tool } from '../../../upstreams/neutral.ts';
import { parseFunction } from '../responses/parse.ts';

/** Functions have no type or the type `custom`; the others are defined, and most of them run, by Anthropic. */
export function parseMessageTools(tools: readonly Json[], list = 'tools'): Tool[] {
  return tools.map((tool, index) => parseTool(tool, `${list}[${index}]`));
}

function parseTool(tool: Json, param: string): Tool {
  if (typeof tool.type === 'string' && tool.type !== 'custom')
    return definedFunction(tool, param) ?? { type: 'opaque', json: tool, param };
  const { input_schema: schema } = tool;
  if (!isObject(schema)) throw invalid(`${param}.input_schema`, 'This must be a JSON schema.');
  return { ...parseFunction({ ...tool, parameters: schema }, param), param };
}

const text = (description: string): Json => ({ type: 'string', description });
const edited: Json = {
  path: text('The path of the file or folder.'),
  file_text: text('For create: the content.'),
  old_str: text('For str_replace: the text to replace, which is in the file once.'),
  new_str: text('For str_replace: the text to put in its place.'),
  insert_line: { type: 'integer', description: 'For insert: the number of the line after which to insert.' },
  insert_text: text('For insert: the text.'),
};
const lineRange: Json = {
  type: 'array',
  items: { type: 'integer' },
  description: 'For view: the first and the last line.',
};

/** A tool that takes commands of a kind. */
function commands(kinds: readonly string[], properties: Json): Json {
  const command = { type: 'string', enum: kinds };
  return { type: 'object', properties: { command, ...properties }, required: ['command'] };
}

/**
 * Tools that Anthropic defines and the caller runs, as functions of the same name and input. Source: Anthropic's documentation,
 * "Bash tool", "Text editor tool" and "Memory tool".
 */
const definedTools: readonly { type: RegExp; description: string; parameters: Json }[] = [
  {
    type: /^bash_\d{8}$/,
    description:
      'Runs a command in a shell on the computer of the user, which keeps its state, and returns the output.',
    parameters: {
      type: 'object',
      properties: {
        command: text('The command.'),
        restart: { type: 'boolean', description: 'Starts the shell anew, without a command.' },
      },
    },
  },
  {
    type: /^text_editor_\d{8}$/,
    description: 'Views and edits files on the computer of the user.',
    parameters: commands(['view', 'create', 'str_replace', 'insert'], { ...edited, view_range: lineRange }),
  },
  {
    type: /^memory_\d{8}$/,
    description: 'Views and edits the files of your memory, which are in the folder /memories.',
    parameters: commands(['view', 'create', 'str_replace', 'insert', 'delete', 'rename'], {
      ...edited,
      view_range: lineRange,
      old_path: text('For rename: the path.'),
      new_path: text('For rename: the new path.'),
    }),
  },
];

function definedFunction(tool: Json, param: string): Tool | undefined {
  const defined = definedTools.find(({ type }) => type.test(String(tool.type)));
  if (defined === undefined || typeof tool.name !== 'string') return undefined;
  const { description, parameters } = defined;
  return { ...parseFunction({ name: tool.name, description, parameters }, param), param, json: tool };
}

/**
 * What a `tool_addition` or `tool_removal` block does elsewhere; undefined if it is not as expected. Tools of MCP servers are
 * not offered elsewhere. Source: Anthropic's API reference, `BetaRequestToolAdditionBlock`.
 */
export function toolChange({ type, tool }: Json, param: string): OtherFormats | undefined {
  if (!isObject(tool)) return undefined;
  const isBack = type === 'tool_addition';
  if (isBack && tool.type === 'tool_definition')
    return definedTool(tool.definition, `${param}.tool.definition`);
  if (tool.type !== 'tool_reference') return { items: [] };
  return typeof tool.name === 'string' ? { items: [], removes: { name: tool.name, isBack } } : undefined;
}

function definedTool(definition: unknown, param: string): OtherFormats | undefined {
  if (!isObject(definition)) return undefined;
  // Anthropic may accept what is not valid here.
  const parsed = ifValid(() => parseTool(definition, param));
  if (parsed === undefined) return undefined;
  const tool: Tool = { ...parsed, isInItem: true };
  const removes = tool.type === 'opaque' ? undefined : { name: tool.name, isBack: true };
  return { items: [], tools: [tool], ...(removes && { removes }) };
}
