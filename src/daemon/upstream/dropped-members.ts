import { asksForNothing } from '../../shared/formats/asks-for-nothing.ts';
import { maskText } from '../../shared/masking/mask-text.ts';
import type { CallFormat, Inference, OpaqueItem } from '../features/upstreams/neutral.ts';
import type { Dropped } from '../features/upstreams/upstream.ts';
import { isObject, type Json, objectsOf } from './json.ts';

/** Options of a call that not every format or model has. */
export type Option =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stop'
  | 'seed'
  | 'logprobs'
  | 'verbosity'
  | 'effort';

/** The options that a request to a provider contains: those with a value other than undefined. */
export type Sent = Partial<Record<Option, unknown>>;

/**
 * What becomes of each member of a body in another format:
 * - `sent`: it is always translated, or the call is refused earlier
 * - `gateway`: it is meant for the gateway, which acts on it
 * - `hint`: it has no effect on the answer
 * - an option: it depends on the provider and the model
 *
 * Any other member is left out.
 */
export const members: Readonly<
  Record<CallFormat, Readonly<Record<string, 'sent' | 'gateway' | 'hint' | Option>>>
> = {
  responses: {
    ...fate('sent', ['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls']),
    ...fate('sent', ['max_output_tokens', 'text', 'include', 'reasoning', 'truncation', 'service_tier']),
    ...fate('gateway', ['stream', 'stream_options', 'metadata']),
    ...fate('hint', ['safety_identifier', 'user', 'prompt_cache_key', 'prompt_cache_retention']),
    // The last one limits the tools that a provider executes.
    ...fate('hint', ['prompt_cache_options', 'client_metadata', 'max_tool_calls']),
    temperature: 'temperature',
    top_p: 'topP',
    presence_penalty: 'presencePenalty',
    frequency_penalty: 'frequencyPenalty',
    top_logprobs: 'logprobs',
  },
  chat: {
    ...fate('sent', ['model', 'messages', 'tools', 'tool_choice', 'functions', 'function_call', 'n']),
    ...fate('sent', ['parallel_tool_calls', 'max_tokens', 'max_completion_tokens', 'response_format']),
    ...fate('sent', ['modalities', 'service_tier']),
    ...fate('gateway', ['stream', 'stream_options', 'store', 'metadata', 'service']),
    ...fate('hint', ['safety_identifier', 'user', 'prompt_cache_key', 'prompt_cache_retention']),
    ...fate('hint', ['prompt_cache_options', 'cache_control']),
    temperature: 'temperature',
    top_p: 'topP',
    top_k: 'topK',
    presence_penalty: 'presencePenalty',
    frequency_penalty: 'frequencyPenalty',
    stop: 'stop',
    seed: 'seed',
    logprobs: 'logprobs',
    top_logprobs: 'logprobs',
    reasoning_effort: 'effort',
    verbosity: 'verbosity',
  },
  messages: {
    ...fate('sent', ['model', 'messages', 'system', 'tools', 'tool_choice', 'max_tokens', 'output_config']),
    ...fate('sent', ['output_format', 'service_tier']),
    ...fate('gateway', ['stream', 'service']),
    ...fate('hint', ['metadata', 'cache_control', 'user_profile_id']),
    temperature: 'temperature',
    top_p: 'topP',
    top_k: 'topK',
    stop_sequences: 'stop',
    thinking: 'effort',
  },
  embeddings: {
    ...fate('sent', ['model', 'input', 'dimensions']),
    ...fate('gateway', ['encoding_format', 'service']),
    ...fate('hint', ['user']),
  },
};

function fate(as: 'sent' | 'gateway' | 'hint', names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, as]));
}

const droppedMax = 32;
const nameCharactersMax = 64;

/**
 * What a request to a provider with another format leaves out of the caller's. `sent` is what it contains; `sends` says
 * which opaque items it contains.
 */
export function droppedMembers(
  inference: Inference,
  sent: Sent,
  sends: (item: OpaqueItem) => boolean = () => false,
): Dropped[] {
  const { wire, body } = inference;
  const nested = nestedMembersOf[wire](body, sent);
  const dropped = [
    ...Object.entries(body).flatMap(([name, value]) => (isLeftOut(wire, name, value, sent) ? [name] : [])),
    ...nested,
  ].map((param): Dropped => ({ param: maskText(param).slice(0, nameCharactersMax) }));
  // Without any tool that can be sent, nothing forces a call.
  if (inference.toolChoice?.mode === 'required' && inference.tools.every(({ type }) => type === 'opaque'))
    dropped.push({ param: 'tool_choice' });
  for (const tool of inference.tools) {
    if (tool.type === 'opaque') dropped.push(typed(tool.param ?? 'tools', tool.json));
  }
  for (const item of inference.items) {
    if (item.type === 'opaque' && !sends(item)) dropped.push(typed(item.param ?? 'input', item.json));
  }
  return dropped.slice(0, droppedMax);
}

const nestedMembersOf: Readonly<Record<CallFormat, (body: Json, sent: Sent) => string[]>> = {
  responses: nestedMembers,
  chat: chatMembers,
  messages: messagesMembers,
  embeddings: () => [],
};

function typed(param: string, { type }: Json): Dropped {
  return { param, type: maskText(String(type)).slice(0, nameCharactersMax) };
}

function isLeftOut(wire: CallFormat, name: string, value: unknown, sent: Sent): boolean {
  if (asksForNothing(name, value)) return false;
  const becomes = Object.hasOwn(members[wire], name) ? members[wire][name] : undefined;
  if (becomes === 'gateway' || becomes === 'hint') return false;
  if (name === 'service_tier')
    return !['auto', 'default', 'standard', 'standard_only'].includes(String(value));
  if (becomes === 'sent') return false;
  return becomes === undefined || sent[becomes] === undefined;
}

const sealedReasoning = 'reasoning.encrypted_content';
const logprobs = 'message.output_text.logprobs';

const translatedTools = new Set([
  ...['function', 'custom', 'namespace', 'shell', 'local_shell', 'apply_patch'],
]);

/** Members of the members of a Responses body. */
function nestedMembers({ text, reasoning, include, tool_choice: choice }: Json, sent: Sent): string[] {
  const left: string[] = [];
  const check = (parent: string, known: Readonly<Record<string, Option | 'sent'>>, object: unknown) => {
    for (const [name, value] of Object.entries(isObject(object) ? object : {})) {
      const becomes = Object.hasOwn(known, name) ? known[name] : undefined;
      if (becomes === 'sent' || asksForNothing(name, value)) continue;
      if (becomes === undefined || sent[becomes] === undefined) left.push(`${parent}.${name}`);
    }
  };
  check('text', { format: 'sent', verbosity: 'verbosity' }, text);
  check('reasoning', { effort: 'effort', summary: 'sent', generate_summary: 'sent' }, reasoning);
  for (const [index, each] of (Array.isArray(include) ? include : []).entries()) {
    const isSent = each === sealedReasoning || (each === logprobs && sent.logprobs !== undefined);
    if (!isSent) left.push(`include[${index}]`);
  }
  const allowed = isObject(choice) && choice.type === 'allowed_tools' ? objectsOf(choice.tools) : [];
  for (const [index, { type }] of allowed.entries()) {
    if (!translatedTools.has(String(type))) left.push(`tool_choice.tools[${index}]`);
  }
  return left;
}

/** The members of `output_config`. */
function messagesMembers({ output_config: config }: Json, sent: Sent): string[] {
  return Object.entries(isObject(config) ? config : {}).flatMap(([name, value]) => {
    const isSent = name === 'format' || (name === 'effort' && sent.effort !== undefined);
    return isSent || asksForNothing(name, value) ? [] : [`output_config.${name}`];
  });
}

/** Names of participants, which only this format has, and modalities that other formats lack. */
function chatMembers({ messages }: Json): string[] {
  return objectsOf(messages).flatMap(({ name, role }, index) =>
    typeof name === 'string' && role !== 'function' && role !== 'tool' ? [`messages[${index}].name`] : [],
  );
}
