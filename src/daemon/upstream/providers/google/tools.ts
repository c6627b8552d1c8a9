import type { Inference, ToolChoice } from '../../../features/inference/neutral.ts';
import type { Json } from '../json-value.ts';
import { modernSchema } from '../modern-schema.ts';
import { objectParameters, takesNothing } from '../tool-parameters.ts';
import { geminiName } from './function-names.ts';

export interface ToolFields {
  tools: Json[] | undefined;
  toolConfig: Json | undefined;
  /** Whether the model is made to call a function. */
  forced: boolean;
  /** What the format cannot say and the model is asked for in words. */
  instruction: string | undefined;
}

/** The caller's functions and how they may be chosen. Tools of other kinds are left out. */
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
  if (parameters === undefined || takesNothing(parameters)) return undefined;
  return modernSchema(objectParameters(parameters));
}
