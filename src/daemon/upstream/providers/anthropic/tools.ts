import type { Inference, Tool, ToolChoice } from '../../../features/upstreams/neutral.ts';
import { type Json, objectOf } from '../../json.ts';
import { marked } from './messages.ts';
import type { ModelTraits } from './models.ts';
import { canBeStrict, inputSchema, type StrictBudget, strictSchema } from './structured-output.ts';

type FunctionTool = Extract<Tool, { type: 'function' }>;

export interface ToolFields {
  tools: Json[] | undefined;
  toolChoice: Json | undefined;
  /** Whether the model must call a tool. */
  forced: boolean;
  /** What the format cannot express, as a sentence for the system prompt. */
  instruction: string | undefined;
}

/**
 * The caller's functions and `tool_choice`. Functions are strict if requested, as far as the budget allows. Other kinds
 * of tools are dropped: no server with this format has them.
 */
export function toolFields(inference: Inference, traits: ModelTraits, budget: StrictBudget): ToolFields {
  const choice = inference.toolChoice ?? { mode: 'auto' };
  const functions = inference.tools.filter((tool) => tool.type === 'function');
  const names = offeredNames(choice, traits);
  const offered = functions.filter((tool) => names?.has(tool.name) ?? true);
  if (offered.length === 0) return withoutOffer(inference);
  const requested = choiceType(choice);
  const forced = requested === 'any' || requested === 'tool';
  const type = forced && !traits.supportsForcedTools ? 'auto' : requested;
  const toolChoice: Json = { type };
  if (type === 'tool' && choice.mode === 'function') toolChoice.name = choice.name;
  if (inference.parallelToolCalls === false && type !== 'none') toolChoice.disable_parallel_tool_use = true;
  const isDefault = type === 'auto' && toolChoice.disable_parallel_tool_use === undefined;
  return {
    tools: offered.map((tool) => toTool(tool, traits, budget)),
    toolChoice: isDefault && inference.toolChoice === undefined ? undefined : toolChoice,
    forced: forced && traits.supportsForcedTools,
    instruction: forced && type === 'auto' ? 'Answer by calling one of the tools, not with text.' : undefined,
  };
}

/**
 * Servers refuse a history with calls whose tools are not declared, as agents send it to have a conversation summarized. Source:
 * justlovemaki/AIClient2API#199, aws-samples/bedrock-access-gateway#239.
 */
function withoutOffer({ items }: Inference): ToolFields {
  const names = new Set(items.flatMap((item) => (item.type === 'function_call' ? item.name : [])));
  const tools = [...names].map((name) => ({ name, input_schema: inputSchema(undefined) }));
  const isCalled = tools.length > 0;
  return {
    tools: isCalled ? tools : undefined,
    toolChoice: isCalled ? { type: 'none' } : undefined,
    forced: false,
    instruction: undefined,
  };
}

/** The tools to offer, undefined for all: a choice among some tools is enforced by offering no others. */
function offeredNames(choice: ToolChoice, traits: ModelTraits): ReadonlySet<string> | undefined {
  if (choice.mode === 'allowed') return new Set(choice.names);
  if (choice.mode === 'function' && !traits.supportsForcedTools) return new Set([choice.name]);
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

/** A tool without parameters has a closed, empty object schema. */
function canBeStrictInput(schema: Json): boolean {
  const isEmpty = Object.keys(objectOf(schema.properties) ?? {}).length === 0;
  return isEmpty ? !schema.additionalProperties : canBeStrict(schema);
}

function toTool(tool: FunctionTool, { supportsSchemas }: ModelTraits, budget: StrictBudget): Json {
  const schema = inputSchema(tool.parameters);
  const wantsStrict = tool.strict === true && supportsSchemas && canBeStrictInput(schema);
  const strict = wantsStrict && budget.reserveTool(schema);
  const written = {
    name: tool.name,
    description: tool.description,
    input_schema: strict ? strictSchema(schema) : schema,
    strict: strict ? true : undefined,
  };
  return marked(written, tool);
}
