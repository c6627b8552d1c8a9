import { ifValid, invalid, isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import type { OtherFormats, Tool } from '../../../upstreams/neutral.ts';
import { parseFunction } from '../responses/parse.ts';

/** Functions have no type or the type `custom`; the others are defined, and most of them run, by Anthropic. */
export function parseMessageTools(tools: readonly Json[], list = 'tools'): Tool[] {
  return tools.map((tool, index) => parseTool(tool, `${list}[${index}]`));
}

function parseTool(tool: Json, param: string): Tool {
  if (typeof tool.type === 'string' && tool.type !== 'custom') return { type: 'opaque', json: tool, param };
  const { input_schema: schema } = tool;
  if (!isObject(schema)) throw invalid(`${param}.input_schema`, 'This must be a JSON schema.');
  return { ...parseFunction({ ...tool, parameters: schema }, param), param };
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
