import type { Inference, ReasoningItem } from '../../../features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import type { Json } from '../../json.ts';
import { automaticMark, cacheMarksMax, limitMarks } from '../cache-marks.ts';
import { conversationOf, endWithUser, isBlank, withShownFiles } from '../conversation.ts';
import { refuseImageOutput, unsupported } from '../provider-failures.ts';
import { modernSchema } from '../tool-schema.ts';
import { isThought, type Message, marked, messagesOf } from './messages.ts';
import { type Effort, type ModelTraits, traitsOf } from './models.ts';
import { canBeStrict, StrictBudget, strictSchema } from './structured-output.ts';
import { toolFields } from './tools.ts';

/** Lets a request control what happens to thoughts whose prompt has changed. */
export const thinkingBindingBeta = 'thinking-binding-controls-2026-08-01';

/** The body of POST /v1/messages. Throws an UpstreamFailure of kind `caller` for what the format cannot express. */
export function messagesBody(call: UpstreamCall, provider: string): Json {
  const { inference, model } = call;
  if (typeof inference.body.n === 'number' && inference.body.n > 1)
    throw unsupported('This model gives one answer at a time.', 'n');
  refuseImageOutput(inference);
  const traits = traitsOf(model);
  const isOwn = ({ origin }: ReasoningItem) => origin?.provider === provider && origin.model === model;
  const conversation = conversationOf({ ...inference, items: withShownFiles(inference.items) });
  const turns = traits.supportsPrefill ? conversation.turns : endWithUser(conversation.turns);
  const messages = messagesOf(turns, isOwn);
  trimPrefill(messages);

  const maxTokens = maxTokensOf(call, traits);
  // The answer's schema goes first: without it the answer is useless, while tools still work.
  const budget = new StrictBudget();
  const format = formatOf(inference, traits, budget);
  const { tools, toolChoice, forced, instruction } = toolFields(inference, traits, budget);
  const { thinking, effort } = thinkingFields(inference.reasoning, {
    traits,
    maxTokens,
    forced,
    canContinueThoughts: canContinueThoughts(messages),
    replays: messages.some(({ content }) => content.some(isThought)),
  });
  const system = conversation.system.map(({ text, ...mark }) => marked({ type: 'text', text }, mark));
  for (const text of [format.instruction, instruction])
    if (text !== undefined && !isBlank(text)) system.push({ type: 'text', text });
  const automatic = traits.supportsPromptCaching ? automaticMark(inference)?.cacheControl : undefined;
  if (inference.wire !== 'messages')
    limitMarks([...(tools ?? []), ...system, ...messages.flatMap(blocksWithin)], {
      most: traits.supportsPromptCaching ? cacheMarksMax - (automatic ? 1 : 0) : 0,
    });
  return {
    model,
    max_tokens: maxTokens,
    system: system.length > 0 ? system : undefined,
    messages,
    tools,
    tool_choice: toolChoice,
    thinking,
    cache_control: automatic,
    output_config: effort || format.schema ? { effort, format: format.schema } : undefined,
    ...samplingOf(inference, {
      traits,
      thinks: thinking?.type === 'enabled' || thinking?.type === 'adaptive',
    }),
    stream: true,
  };
}

function blocksWithin({ content }: Message): Json[] {
  return content.flatMap((block) => [
    ...(Array.isArray(block.content) ? (block.content as Json[]) : []),
    block,
  ]);
}

/** The API requires a limit; by default it is the model's maximum. */
function maxTokensOf({ inference, outputTokensMax }: UpstreamCall, traits: ModelTraits): number {
  const requested = outputTokensMax ?? inference.outputTokensMax;
  if (requested === undefined) return traits.outputTokensMax;
  const known = traits.supportsSchemas || traits.thinking !== 'none';
  return known ? Math.min(requested, traits.outputTokensMax) : requested;
}

/** The API refuses a final assistant message that ends in white space. */
function trimPrefill(messages: readonly Message[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role === 'assistant' && typeof block?.text === 'string') block.text = block.text.trimEnd();
}

/** After tool calls, budget models require the calling turn to start with its thoughts. */
function canContinueThoughts(messages: readonly Message[]): boolean {
  if (messages.at(-1)?.content[0]?.type !== 'tool_result') return true;
  return isThought(messages.at(-2)?.content[0]);
}

function formatOf(
  { format }: Inference,
  traits: ModelTraits,
  budget: StrictBudget,
): { schema: Json | undefined; instruction: string | undefined } {
  if (!format) return { schema: undefined, instruction: undefined };
  if (format.type === 'json_object') {
    return { schema: undefined, instruction: 'Answer with one JSON object and nothing else.' };
  }
  const modern = modernSchema(format.schema);
  if (traits.supportsSchemas && canBeStrict(modern) && budget.reserve(modern)) {
    return { schema: { type: 'json_schema', schema: strictSchema(modern) }, instruction: undefined };
  }
  const schema = JSON.stringify(format.schema);
  const instruction = `Answer with nothing but JSON that conforms to this JSON Schema:\n${schema}`;
  return { schema: undefined, instruction };
}

function samplingOf(
  { sampling }: Inference,
  { traits, thinks }: { traits: ModelTraits; thinks: boolean },
): Json {
  // Blank stop sequences are refused.
  const stop = sampling.stop?.filter((text) => !isBlank(text));
  const stopSequences = stop && stop.length > 0 ? stop : undefined;
  if (!traits.supportsSampling || thinks) return { stop_sequences: stopSequences };
  const { temperature, topP, topK } = sampling;
  const both = temperature !== undefined && topP !== undefined;
  return {
    stop_sequences: stopSequences,
    // The maximum is 1 here and 2 elsewhere.
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: both && !traits.supportsTemperatureWithTopP ? undefined : topP,
    top_k: topK,
  };
}

interface ThinkingFields {
  thinking: Json | undefined;
  effort: Effort | undefined;
}

interface ThinkingContext {
  traits: ModelTraits;
  maxTokens: number;
  /** Whether tool_choice forces a call, which excludes thinking. */
  forced: boolean;
  /** Whether the turn before the tool results starts with thoughts, as budget models require. */
  canContinueThoughts: boolean;
  /** Whether the request contains earlier thoughts. */
  replays: boolean;
}

const budgetTokensMin = 1024;
const budgetTokens: Record<Effort, number> = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 32_000,
};

/** The caller's reasoning settings as `thinking` and `output_config.effort`. */
function thinkingFields(reasoning: Inference['reasoning'], context: ThinkingContext): ThinkingFields {
  const { traits } = context;
  if (reasoning?.effort === 'none') return withoutThinking(traits);
  const effort = effortOf(reasoning?.effort);
  const showsSummary = reasoning?.summary !== undefined;
  if (traits.thinking === 'budget') {
    return { thinking: effort && budgetThinking(effort, context), effort: undefined };
  }
  if (traits.thinking === 'none') return { thinking: undefined, effort: undefined };

  const accepted = effort && highestAccepted(effort, traits.efforts);
  const binds = traits.bindsThoughts && context.replays;
  if (context.forced || (!accepted && !showsSummary && !binds)) {
    return { thinking: undefined, effort: accepted };
  }
  const thinking: Json = { type: 'adaptive' };
  if (showsSummary && traits.hidesThoughts) thinking.display = 'summarized';
  // When instructions or tools change between turns, drop the thoughts instead of refusing the call.
  if (binds) thinking.block_binding = { prefix_mismatch_behavior: 'drop_block' };
  return { thinking, effort: accepted };
}

function withoutThinking({ thinkingOff }: ModelTraits): ThinkingFields {
  if (thinkingOff === 'low-effort') return { thinking: undefined, effort: 'low' };
  const thinking = thinkingOff === 'omit' ? undefined : { type: thinkingOff };
  return { thinking, effort: undefined };
}

/** The budget counts towards max_tokens and must leave room for the answer. */
function budgetThinking(effort: Effort, context: ThinkingContext): Json | undefined {
  if (context.forced || !context.canContinueThoughts) return undefined;
  const budget = Math.min(budgetTokens[effort], Math.floor(context.maxTokens * 0.8));
  return budget < budgetTokensMin ? undefined : { type: 'enabled', budget_tokens: budget };
}

function effortOf(requested: string | undefined): Effort | undefined {
  if (requested === 'minimal') return 'low';
  return effortLevels.find((effort) => effort === requested);
}

const effortLevels: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The requested effort, or the highest accepted one below it. */
function highestAccepted(requested: Effort, accepted: readonly Effort[]): Effort | undefined {
  return effortLevels
    .slice(0, effortLevels.indexOf(requested) + 1)
    .findLast((effort) => accepted.includes(effort));
}
