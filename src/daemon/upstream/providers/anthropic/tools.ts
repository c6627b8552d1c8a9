import type { Inference, Tool, ToolChoice } from '../../../features/inference/neutral.ts';
import { type Json, objectOf } from '../../json.ts';
import type { ModelTraits } from './models.ts';
import { inputSchema, isStrictable, type StrictBudget, strictSchema } from './structured-output.ts';

type FunctionTool = Extract<Tool, { type: 'function' }>;

export interface ToolFields {
  tools: Json[] | undefined;
  toolChoice: Json | undefined;
  /** Whether the model is made to call a tool. */
  forced: boolean;
  /** What the format cannot say and the model is asked for in words. */
  instruction: string | undefined;
}

/**
 * The caller's functions and how they may be chosen; those that are to be strict are, as far as the budget goes. Tools of
 * other kinds are left out: no such server knows them.
 */
export function toolFields(inference: Inference, traits: ModelTraits, budget: StrictBudget): ToolFields {
  const choice = inference.toolChoice ?? { mode: 'auto' };
  const functions = inference.tools.filter((tool) => tool.type === 'function');
  const names = namesOffered(choice, traits);
  const offered = functions.filter((tool) => names?.has(tool.name) ?? true);
  if (offered.length === 0) {
    return { tools: undefined, toolChoice: undefined, forced: false, instruction: undefined };
  }
  const wanted = choiceType(choice);
  const forced = wanted === 'any' || wanted === 'tool';
  const type = forced && !traits.takesForcedTools ? 'auto' : wanted;
  const toolChoice: Json = { type };
  if (type === 'tool' && choice.mode === 'function') toolChoice.name = choice.name;
  if (inference.parallelToolCalls === false && type !== 'none') toolChoice.disable_parallel_tool_use = true;
  const isDefault = type === 'auto' && toolChoice.disable_parallel_tool_use === undefined;
  return {
    tools: offered.map((tool) => toTool(tool, traits, budget)),
    toolChoice: isDefault && inference.toolChoice === undefined ? undefined : toolChoice,
    forced: forced && traits.takesForcedTools,
    instruction: forced && type === 'auto' ? 'Answer by calling one of the tools, not with text.' : undefined,
  };
}

/** A choice that allows only some tools is kept by offering no others: their names, undefined for all. */
function namesOffered(choice: ToolChoice, traits: ModelTraits): ReadonlySet<string> | undefined {
  if (choice.mode === 'allowed') return new Set(choice.names);
  if (choice.mode === 'function' && !traits.takesForcedTools) return new Set([choice.name]);
  return undefined;
}

function choiceType(choice: ToolChoice): 'auto' | 'any' | 'tool' | 'none' {
  switch (choice.mode) {
    case 'required':
      return 'any';
    case 'function':
      return 'tool';
    case 'allowed':
      return choice.required ? 'any' : 'auto';
    default:
      return choice.mode;
  }
}

/** A tool without parameters takes a closed, empty object. */
function hasNoOrStrictParameters(schema: Json): boolean {
  const isEmpty = Object.keys(objectOf(schema.properties) ?? {}).length === 0;
  return isEmpty ? !schema.additionalProperties : isStrictable(schema);
}

function toTool(tool: FunctionTool, { takesSchema }: ModelTraits, budget: StrictBudget): Json {
  const schema = inputSchema(tool.parameters);
  const canBeStrict = tool.strict === true && takesSchema && hasNoOrStrictParameters(schema);
  const strict = canBeStrict && budget.takesTool(schema);
  return {
    name: tool.name,
    description: tool.description,
    input_schema: strict ? strictSchema(schema) : schema,
    strict: strict ? true : undefined,
  };
}
