import { pictureIn } from '../../../../shared/formats/pictures.ts';
import { ownValue } from '../../../../shared/json/json-object.ts';
import type { Inference, InputItem, ReasoningItem } from '../../../features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import type { Json } from '../../json.ts';
import { conversationOf, endWithUser, isBlank } from '../conversation.ts';
import { unsupported } from '../provider-failures.ts';
import { modernSchema } from '../tool-schema.ts';
import { callSignatures, contentsOf } from './contents.ts';
import { toolFields } from './functions.ts';
import { type ModelTraits, type ThinkingLevel, traitsOf } from './models.ts';

/** The body of models/M:streamGenerateContent. Throws an UpstreamFailure of kind `caller` for what the format cannot express. */
export function generateBody(call: UpstreamCall, provider: string): Json {
  const { inference, model } = call;
  if (typeof inference.body.n === 'number' && inference.body.n > 1)
    throw unsupported('This model gives one answer at a time.', 'n');
  const traits = traitsOf(model);
  const isOwn = ({ origin }: ReasoningItem) => origin?.provider === provider && origin.model === model;
  const { system, turns } = conversationOf({ ...inference, items: inference.items.map(withPicture) });
  const contents = contentsOf(endWithUser(turns), {
    signatures: callSignatures(inference.items, isOwn),
    isOwn,
    needsSignatures: traits.needsSignatures,
  });
  const { tools, toolConfig, forced, instruction } = toolFields(inference);
  const format = formatOf(inference, { traits, hasTools: tools !== undefined, forced });
  const instructions = [...system.map(({ text }) => text), format.instruction, instruction].filter(
    (text) => !isBlank(text),
  );
  return {
    systemInstruction:
      instructions.length > 0 ? { parts: instructions.map((text) => ({ text })) } : undefined,
    contents,
    tools,
    toolConfig,
    generationConfig: {
      ...samplingOf(inference, traits),
      maxOutputTokens: call.outputTokensMax ?? inference.outputTokensMax,
      ...format.fields,
      responseModalities: modalitiesOf(inference),
      thinkingConfig: thinkingConfig(inference.reasoning, traits),
    },
  };
}

/** Pictures that a model generated become part of its messages. */
function withPicture(item: InputItem): InputItem {
  const picture = item.type === 'opaque' ? pictureIn(item.json) : undefined;
  if (picture === undefined) return item;
  const url = `data:${picture.mimeType};base64,${picture.data}`;
  return { type: 'message', role: 'assistant', content: [{ type: 'image', url }] };
}

interface FormatFields {
  fields: Json;
  instruction: string | undefined;
}

/** Older models refuse a response type together with functions, and all models if a call is forced. */
function formatOf(
  { format }: Inference,
  { traits, hasTools, forced }: { traits: ModelTraits; hasTools: boolean; forced: boolean },
): FormatFields {
  // A forced answer is a call, which has no text.
  if (!format || forced) return { fields: {}, instruction: undefined };
  if (hasTools && !traits.supportsSchemaWithTools)
    return { fields: {}, instruction: formatInstruction(format) };
  const fields: Json = { responseMimeType: 'application/json' };
  if (format.type === 'json_schema') fields.responseJsonSchema = modernSchema(format.schema);
  return { fields, instruction: undefined };
}

function formatInstruction(format: NonNullable<Inference['format']>): string {
  if (format.type === 'json_object')
    return 'Unless you call a function, answer with one JSON object and nothing else.';
  const schema = JSON.stringify(format.schema);
  return `Unless you call a function, answer with nothing but JSON that conforms to this JSON Schema:\n${schema}`;
}

/** The chat member `modalities`. Models that generate pictures do so even without it. */
function modalitiesOf({ wire, body }: Inference): string[] | undefined {
  if (wire !== 'chat' || !Array.isArray(body.modalities)) return undefined;
  const modalities = body.modalities.map((each) => String(each).toUpperCase());
  if (!modalities.includes('IMAGE')) return undefined;
  return modalities.filter((each) => each === 'IMAGE' || each === 'TEXT');
}

/** The API refuses more, which are left to the gateway. Source: BerriAI/litellm#18921. */
const stopsMax = 5;

function samplingOf({ sampling }: Inference, traits: ModelTraits): Json {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, stop, seed } = sampling;
  return {
    ...(traits.supportsSampling && { temperature, topP, topK }),
    ...(traits.supportsPenalties && { presencePenalty, frequencyPenalty }),
    stopSequences: stop && stop.length > 0 && stop.length <= stopsMax ? stop : undefined,
    seed,
    ...logprobsOf(sampling),
  };
}

/** Most models refuse them, so only a caller that needs them gets the refusal; for others they are left out. */
function logprobsOf({ needsLogprobs, topLogprobs }: Inference['sampling']): Json {
  return needsLogprobs ? { responseLogprobs: true, logprobs: topLogprobs } : {};
}

/** The suitable levels for each effort, best first: not every model has all levels. */
const levels: Record<string, ThinkingLevel[]> = {
  none: ['MINIMAL', 'LOW'],
  minimal: ['MINIMAL', 'LOW'],
  low: ['LOW'],
  medium: ['MEDIUM', 'HIGH'],
  high: ['HIGH'],
  xhigh: ['HIGH'],
  max: ['HIGH'],
};

/** Tokens for each effort. Source: Google's documentation, "OpenAI compatibility". */
const budgets: Record<string, number> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};

/** The caller's reasoning settings as `generationConfig.thinkingConfig`, with either a level or a budget. */
export function thinkingConfig(reasoning: Inference['reasoning'], traits: ModelTraits): Json | undefined {
  if (!reasoning || traits.thinking === 'none') return undefined;
  const { effort, summary } = reasoning;
  const config: Json = {};
  if (summary !== undefined && effort !== 'none') config.includeThoughts = true;
  if (effort !== undefined && traits.thinking === 'level') {
    config.thinkingLevel = ownValue(levels, effort)?.find((level) => traits.levels.includes(level));
  } else {
    const budget = ownValue(budgets, effort);
    if (budget !== undefined)
      config.thinkingBudget = Math.min(Math.max(budget, traits.budgetMin), traits.budgetMax);
  }
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}
