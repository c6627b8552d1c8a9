import { isObject, type JsonObject as Json, mapChanged } from '../../../../shared/json/json-object.ts';
import { editDistance } from '../../../../shared/text/edit-distance.ts';
import type { Inference } from '../../upstreams/neutral.ts';
import { type UpstreamCall, UpstreamFailure } from '../../upstreams/upstream.ts';
import type { Reduced } from './options.ts';
import { saysUnsupported } from './refused-options.ts';

/** Members of all formats on which an answer, its form or its price depends: a call is not answered without them. */
const essential = [
  ...[
    'model',
    'messages',
    'input',
    'instructions',
    'system',
    'prompt',
    'previous_response_id',
    'conversation',
  ],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'mcp_servers', 'container', 'web_search_options'],
  ...['response_format', 'text', 'output_config', 'output_format', 'modalities', 'audio', 'n', 'stop'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_tool_calls', 'truncation'],
  ...['stream', 'stream_options', 'include', 'store', 'background', 'service_tier'],
];

/** Others that a caller may have misspelled. */
const options = [
  ...['temperature', 'top_p', 'top_k', 'reasoning', 'reasoning_effort', 'verbosity', 'seed', 'logit_bias'],
  ...['presence_penalty', 'frequency_penalty', 'parallel_tool_calls', 'logprobs', 'top_logprobs'],
];

/** Whether a name is that of such a member or like one, which would be ignored otherwise. */
function isMeant(name: string): boolean {
  const most = name.length < 6 ? 1 : 2;
  return [...essential, ...options].some((known) => editDistance(name, known, most) <= most);
}

/** The same in what servers added: grammars and schemas of answers. */
const shapesAnswers = /^(guided|grammar|structured|json_schema|regex)/;

/** Members within messages and tools that only tune how they are read. */
const dispensableWithin = new Set([
  ...['cache_control', 'scope', 'ttl', 'input_examples', 'eager_input_streaming', 'defer_loading'],
  ...['output_config', 'caller', 'annotations', 'logprobs'],
]);

/** Names in a sentence: in quotes, after what they are, or before a colon. */
const named =
  /['"`]([A-Za-z_][\w.[\]]{0,63})['"`]|\b(?:parameters?|parameter\(s\)|arguments?(?: supplied)?|fields?|keys?|property|inputs?)[: ]{1,2}([A-Za-z_]\w{0,63})|(?:^|[\s:])([A-Za-z_][\w.[\]]{0,63}): /gi;

/**
 * The member of a call in the provider's own format that the provider does not know; undefined for any other failure. Clients
 * send the newest members to every server.
 */
export function unknownMember(error: unknown, { wire, inference }: UpstreamCall): string | undefined {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  if (wire !== inference.wire) return undefined;
  const { path, param, publicMessage = '' } = error.details;
  const sentence = publicMessage.slice(0, 400);
  const beta = unknownBeta(sentence, betasOf(inference));
  if (beta !== undefined) return betaMember + beta;
  if (!saysUnsupported.test(sentence)) return undefined;
  const names = [
    path,
    param,
    ...Array.from(sentence.matchAll(named), (found) => found[1] ?? found[2] ?? found[3]),
  ];
  for (const name of names) {
    const member = name ? dispensableAt(inference, name) : undefined;
    if (member !== undefined) return member;
  }
  return undefined;
}

const betaHeader = 'anthropic-beta';
const betaMember = `${betaHeader}: `;

function betasOf({ headers }: Inference): string[] {
  return (headers?.[betaHeader] ?? '').split(',').map((beta) => beta.trim());
}

/** The beta that a provider does not know. Bedrock does not say which: then it is the last. */
function unknownBeta(sentence: string, betas: readonly string[]): string | undefined {
  if (/invalid beta flag/i.test(sentence)) return betas.findLast((beta) => beta !== '');
  return sentence.includes(betaHeader) ? betas.find((beta) => sentence.includes(`\`${beta}\``)) : undefined;
}

function withoutBeta(inference: Inference, unknown: string): Inference {
  const betas = betasOf(inference);
  if (!betas.includes(unknown)) return inference;
  const left = betas.filter((beta) => beta !== unknown);
  const { [betaHeader]: _all, ...others } = inference.headers ?? {};
  return {
    ...inference,
    headers: left.length > 0 ? { ...others, [betaHeader]: left.join(',') } : others,
  };
}

/** What the position of a member stands for: itself, or all of its name in a list, such as `tools[].input_examples`. */
function dispensableAt(inference: Inference, position: string): string | undefined {
  const { body } = inference;
  const [root = '', ...path] = position.split(/[.[\]]+/).filter((part) => part !== '');
  const leaf = path.at(-1);
  if (leaf === undefined) return isDispensable(root, inference) ? root : undefined;
  const member = `${root}[].${leaf}`;
  return dispensableWithin.has(leaf) && withoutMember(body, member) !== body ? member : undefined;
}

/** In the Messages format, a caller who names betas may have members that are newer than the server, others a wrong one. */
function isDispensable(name: string, { wire, body, headers }: Inference): boolean {
  if (!Object.hasOwn(body, name) || shapesAnswers.test(name) || isMeant(name)) return false;
  return wire !== 'messages' || headers?.[betaHeader] !== undefined;
}

/** A call without members that its provider does not know; unchanged if it has none of them. */
export function withoutMembers(inference: Inference, names: Iterable<string>): Reduced {
  let left = inference;
  const dropped: Reduced['dropped'] = [];
  for (const name of names) {
    const before = left;
    if (name.startsWith(betaMember)) left = withoutBeta(left, name.slice(betaMember.length));
    else {
      const body = withoutMember(left.body, name);
      if (body !== left.body) left = { ...left, body };
    }
    if (left !== before) dropped.push({ param: name });
  }
  return { inference: left, dropped };
}

function withoutMember(body: Json, member: string): Json {
  const [root = '', leaf] = member.split('[].', 2);
  if (!Object.hasOwn(body, root)) return body;
  const { [root]: value, ...rest } = body;
  if (leaf === undefined) return rest;
  const left = withoutName(value, leaf);
  return left === value ? body : { ...body, [root]: left };
}

/** What a tool's schema and arguments contain is the caller's own. */
const callersOwn = new Set(['parameters', 'input_schema', 'input', 'arguments']);

/** The same value if it does not contain the name. */
function withoutName(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return mapChanged(value, (each) => withoutName(each, name));
  if (!isObject(value)) return value;
  const left: Json = {};
  let isChanged = false;
  for (const [member, each] of Object.entries(value)) {
    const kept = callersOwn.has(member) ? each : withoutName(each, name);
    isChanged ||= kept !== each || member === name;
    if (member !== name) left[member] = kept;
  }
  return isChanged ? left : value;
}
