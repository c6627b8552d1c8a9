import { asksForNothing } from '../../../../shared/formats/asks-for-nothing.ts';
import { isObject, type JsonObject as Json } from '../../../../shared/json/json-object.ts';
import type { Inference, Sampling, Wire } from '../../upstreams/neutral.ts';
import type { Dropped } from '../../upstreams/upstream.ts';

/** An option that tunes an answer, and that not every model has. Without it, a call still works. */
export type TuningOption =
  | 'reasoning'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'logitBias'
  | 'stop'
  | 'seed'
  | 'logprobs'
  | 'verbosity'
  | 'parallelToolCalls';

type Members = Partial<Record<TuningOption, readonly string[]>>;

/** Where each format has the options: paths with a dot for a member of a member. */
const membersOf: Readonly<Record<Wire, Members>> = {
  responses: {
    reasoning: ['reasoning'],
    temperature: ['temperature'],
    topP: ['top_p'],
    presencePenalty: ['presence_penalty'],
    frequencyPenalty: ['frequency_penalty'],
    logprobs: ['top_logprobs'],
    verbosity: ['text.verbosity'],
    parallelToolCalls: ['parallel_tool_calls'],
  },
  chat: {
    reasoning: ['reasoning_effort', 'reasoning'],
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    presencePenalty: ['presence_penalty'],
    frequencyPenalty: ['frequency_penalty'],
    logitBias: ['logit_bias'],
    stop: ['stop'],
    seed: ['seed'],
    logprobs: ['logprobs', 'top_logprobs'],
    verbosity: ['verbosity'],
    parallelToolCalls: ['parallel_tool_calls'],
  },
  messages: {
    reasoning: ['thinking', 'output_config.effort'],
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    stop: ['stop_sequences'],
    parallelToolCalls: ['tool_choice.disable_parallel_tool_use'],
  },
};

/** Entries of `include` in the Responses format that belong to an option. */
const includes: Partial<Record<TuningOption, string>> = {
  reasoning: 'reasoning.encrypted_content',
  logprobs: 'message.output_text.logprobs',
};

/** A call without some of its options, and which members of the caller's request this left out. */
export interface Reduced {
  inference: Inference;
  dropped: Dropped[];
}

/** A call without an option, in its neutral form and in its body; unchanged if it does not have the option. */
export function withoutOption(inference: Inference, option: TuningOption): Reduced {
  const { wire } = inference;
  if (wire === 'embeddings') return { inference, dropped: [] };
  let { body } = inference;
  const dropped: Dropped[] = [];
  for (const path of membersOf[wire][option] ?? []) {
    const removed = withoutMember(body, path);
    if (removed === undefined) continue;
    body = removed.body;
    dropped.push(...reported(path, removed.value));
  }
  const included = includes[option];
  if (included !== undefined && Array.isArray(body.include) && body.include.includes(included)) {
    // Without reasoning, there is none to encrypt.
    if (option !== 'reasoning') dropped.push({ param: `include[${body.include.indexOf(included)}]` });
    body = { ...body, include: body.include.filter((each) => each !== included) };
  }
  const isUnchanged = body === inference.body;
  return { inference: isUnchanged ? inference : { ...withoutNeutral(inference, option), body }, dropped };
}

/** Whether a call has an option with a value that asks for something. */
export function hasOption(inference: Inference, option: TuningOption): boolean {
  return withoutOption(inference, option).inference !== inference;
}

/** The members of `reasoning` are reported one by one, as callers set them for different reasons. */
function reported(path: string, value: unknown): Dropped[] {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (asksForNothing(name, value)) return [];
  if (path !== 'reasoning' || !isObject(value)) return [{ param: path }];
  return Object.entries(value).flatMap(([member, each]) =>
    asksForNothing(member, each) ? [] : [{ param: `reasoning.${member}` }],
  );
}

/** The body without a member, and its value; undefined if it has no such member. */
function withoutMember(body: Json, path: string): { body: Json; value: unknown } | undefined {
  const [name = '', ...rest] = path.split('.');
  if (!(name in body)) return undefined;
  const { [name]: value, ...others } = body;
  if (rest.length === 0) return { body: others, value };
  const inner = isObject(value) ? withoutMember(value, rest.join('.')) : undefined;
  return inner && { body: { ...body, [name]: inner.body }, value: inner.value };
}

const samplingMembers: Partial<Record<TuningOption, keyof Sampling>> = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  stop: 'stop',
  seed: 'seed',
  logprobs: 'topLogprobs',
};

function withoutNeutral(inference: Inference, option: TuningOption): Inference {
  const sampled = samplingMembers[option];
  if (sampled !== undefined) {
    const { [sampled]: _removed, ...sampling } = inference.sampling;
    return { ...inference, sampling };
  }
  if (option === 'reasoning') return { ...inference, reasoning: undefined };
  if (option === 'verbosity') return { ...inference, verbosity: undefined };
  if (option === 'parallelToolCalls') return { ...inference, parallelToolCalls: undefined };
  return inference;
}
