import { removedText } from '../masking/mask-text.ts';

type Json = Record<string, unknown>;

/** What a replay changes in the request that it repeats. */
export interface ReplayChanges {
  model?: string | undefined;
  /** Members by their paths; undefined removes one. */
  set?: readonly { path: string; value: unknown }[];
  /** Whether the answer may come from the response cache, or be stored there; `off` by default. */
  cache?: 'off' | 'read-only' | 'read-write' | undefined;
  /** Whether the answer is stored, if its format can be. */
  store?: boolean | undefined;
}

/** The endpoints whose calls can be repeated. */
const replayedEndpoints = [
  '/v1/responses',
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/embeddings',
] as const;

export type ReplayedEndpoint = (typeof replayedEndpoints)[number];

export function isReplayed(endpoint: string): endpoint is ReplayedEndpoint {
  return (replayedEndpoints as readonly string[]).includes(endpoint);
}

/** Headers that change what a provider does, and so are sent again. */
export function replayedHeaders(headers: readonly { name: string; value: string }[]): Record<string, string> {
  const again = headers.filter(({ name }) => /^(anthropic|openai)-/i.test(name));
  return Object.fromEntries(again.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Why a captured request cannot be repeated as it is, as a sentence; undefined if it can. */
export function whyNotRepeatable(text: string, isPartial: boolean): string | undefined {
  if (isPartial) return 'Parts of the request were deleted with the request that introduced them.';
  if (text.includes(removedText)) return `Credentials in the request were replaced by ${removedText}.`;
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return undefined;
  } catch {
    // Said below.
  }
  return 'The request is not a JSON object.';
}

/**
 * The body of a call that repeats a request: not as a run of a thread, not in the background, not from the response cache, and not
 * stored, unless the changes ask for it. Throws a `TypeError` with a sentence if a member cannot be set.
 */
export function prepareReplay(
  endpoint: ReplayedEndpoint,
  request: Json,
  { model, set = [], cache = 'off', store }: ReplayChanges = {},
): Json {
  const body = structuredClone(request);
  if (endpoint === '/v1/responses') {
    delete body.conversation;
    delete body.background;
    // Messages on a socket have one.
    delete body.type;
  }
  const { thread: _thread, ...service } = isObject(body.service) ? body.service : {};
  body.service = { ...service, cache };
  if (endpoint === '/v1/responses' || 'store' in body) body.store = store ?? false;
  if (model !== undefined) body.model = model;
  for (const { path, value } of set) setMember(body, path, value);
  return body;
}

/** Reads `temperature=0`; a value that is no JSON is a text, and none removes the member. */
export function parseSetting(text: string): { path: string; value: unknown } | undefined {
  const [, path, given] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path === undefined || given === undefined) return undefined;
  if (given === '') return { path, value: undefined };
  try {
    return { path, value: JSON.parse(given) };
  } catch {
    return { path, value: given };
  }
}

function setMember(body: Json, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop();
  if (last === undefined)
    throw new TypeError(`${path} is not a member: use names and indexes, as in input[0].content.`);
  let parent: Json = body;
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1] ?? last;
    parent[step] ??= typeof next === 'number' ? [] : {};
    const child = parent[step];
    if (typeof child !== 'object' || child === null) throw new TypeError(`${path}: ${step} has no members.`);
    parent = child as Json;
  }
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent) && typeof last === 'number') parent.splice(last, 1);
  else delete parent[last];
}

/** `messages[0].content` → `messages`, 0, `content`; empty if it is no path, or leads to what all objects have. */
function stepsOf(path: string): (string | number)[] {
  if (!/^[\w-]+(\[\d{1,4}\]|\.[\w-]+)*$/.test(path)) return [];
  const steps = [...path.matchAll(/\[(\d+)\]|([\w-]+)/g)].map(([, index, name = '']) =>
    index === undefined ? name : Number(index),
  );
  return steps.some((step) => step === '__proto__' || step === 'constructor') ? [] : steps;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
