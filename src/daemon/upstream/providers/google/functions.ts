import { createHash } from 'node:crypto';
import type { Inference, Tool, ToolChoice } from '../../../features/upstreams/neutral.ts';
import type { Json } from '../../json.ts';
import { hasNoParameters, modernSchema, objectParameters, validSchema } from '../tool-schema.ts';

export interface ToolFields {
  tools: Json[] | undefined;
  toolConfig: Json | undefined;
  /** Whether the model must call a function. */
  forced: boolean;
  /** What the format cannot express, as a sentence for the system prompt. */
  instruction: string | undefined;
}

/** The caller's functions and `tool_choice`. Other kinds of tools are dropped. */
export function toolFields(inference: Inference): ToolFields {
  const choice = inference.toolChoice ?? { mode: 'auto' };
  const functions = inference.tools.filter((tool) => tool.type === 'function');
  const allowed = choice.mode === 'allowed' ? new Set(choice.names) : undefined;
  const offered = allowed ? functions.filter(({ name }) => allowed.has(name)) : functions;
  if (offered.length === 0) {
    return { tools: undefined, toolConfig: undefined, forced: false, instruction: undefined };
  }
  const functionDeclarations = offered.map(({ name, description, parameters }) => ({
    name: geminiName(name),
    description,
    parametersJsonSchema: schemaOf(parameters),
  }));
  const functionCallingConfig = callingConfig(choice);
  const isSerial = inference.parallelToolCalls === false;
  return {
    tools: [{ functionDeclarations }],
    toolConfig: functionCallingConfig && { functionCallingConfig },
    forced: functionCallingConfig?.mode === 'ANY',
    instruction: isSerial ? 'Call at most one function at a time and wait for its result.' : undefined,
  };
}

function callingConfig(choice: ToolChoice): Json | undefined {
  switch (choice.mode) {
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'function':
      return { mode: 'ANY', allowedFunctionNames: [geminiName(choice.name)] };
    case 'allowed':
      return choice.required ? { mode: 'ANY' } : undefined;
    default:
      return undefined;
  }
}

/** Functions without parameters are declared without a schema. */
function schemaOf(parameters: Json | undefined): Json | undefined {
  if (parameters === undefined || hasNoParameters(parameters)) return undefined;
  return modernSchema(validSchema(objectParameters(parameters)));
}

/** Names start with a letter or an underscore, and are shorter than elsewhere. */
const geminiNameForm = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** A name that Gemini accepts; the same function always gets the same name. */
export function geminiName(name: string): string {
  if (geminiNameForm.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `_${name.slice(0, 54)}_${digest}`;
}

/** The caller's names of renamed functions, by the name that Gemini sees. */
export function originalNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const tool of tools) {
    if (tool.type === 'function' && !geminiNameForm.test(tool.name))
      names.set(geminiName(tool.name), tool.name);
  }
  return names;
}
