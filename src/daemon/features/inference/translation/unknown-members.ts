import { isObject, type JsonObject as Json } from '../../../../shared/json/json-object.ts';
import type { Inference } from '../../upstreams/neutral.ts';
import { type UpstreamCall, UpstreamFailure } from '../../upstreams/upstream.ts';
import type { Reduced } from './options.ts';
import { saysUnsupported } from './refused-options.ts';

/** Members of all formats on which an answer, its form or its price depends: a call is not answered without them. */
const essential = new Set([
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
]);

/** The same in what servers added: grammars and schemas of answers. */
const shapesAnswers = /^(guided|grammar|structured|json_schema|regex)/;

/** Marks within messages and tools, which only say what to cache. */
const mark = 'cache_control';

/** Names in a sentence: in quotes, after what they are, or before a colon. */
const named =
  /['"`]([A-Za-z_][\w.[\]]{0,63})['"`]|\b(?:parameters?|parameter\(s\)|arguments?(?: supplied)?|fields?|keys?|property|inputs?)[: ]{1,2}([A-Za-z_]\w{0,63})|(?:^|[\s:])([A-Za-z_]\w{0,63}): /gi;

/**
 * The member of a call in the provider's own format that the provider does not know; undefined for any other failure. Clients
 * send the newest members to every server.
 */
export function unknownMember(error: unknown, { wire, inference }: UpstreamCall): string | undefined {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  if (wire !== inference.wire) return undefined;
  const { path, param, publicMessage = '' } = error.details;
  const sentence = publicMessage.slice(0, 400);
  if (!saysUnsupported.test(sentence)) return undefined;
  const names = [
    path,
    param,
    ...Array.from(sentence.matchAll(named), (found) => found[1] ?? found[2] ?? found[3]),
  ];
  const found = names.find((name) => typeof name === 'string' && isDispensable(inference.body, name));
  if (found) return found;
  const isMark = names.some((name) => name?.split(/[.[\]]/).at(-1) === mark);
  return isMark && withoutMember(inference, mark).dropped.length > 0 ? mark : undefined;
}

function isDispensable(body: Json, name: string): boolean {
  return name in body && !essential.has(name) && !shapesAnswers.test(name);
}

/** A call without members that its provider does not know; unchanged if it has none of them. */
export function withoutMembers(inference: Inference, names: Iterable<string>): Reduced {
  let left = inference;
  const dropped: Reduced['dropped'] = [];
  for (const name of names) {
    const reduced = withoutMember(left, name);
    left = reduced.inference;
    dropped.push(...reduced.dropped);
  }
  return { inference: left, dropped };
}

function withoutMember(inference: Inference, name: string): Reduced {
  const { body } = inference;
  const hasIt = name in body || (name === mark && JSON.stringify(body).includes(`"${mark}"`));
  if (!hasIt) return { inference, dropped: [] };
  const { [name]: _removed, ...rest } = body;
  const left = name === mark ? (withoutMarks(rest) as Json) : rest;
  return { inference: { ...inference, body: left }, dropped: [{ param: name }] };
}

/** What a tool's schema and arguments contain is the caller's own. */
const callersOwn = new Set(['parameters', 'input_schema', 'input', 'arguments']);

function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  const left = Object.entries(value).filter(([name]) => name !== mark);
  return Object.fromEntries(
    left.map(([name, each]) => [name, callersOwn.has(name) ? each : withoutMarks(each)]),
  );
}
