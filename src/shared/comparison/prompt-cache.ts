import { isObject } from '../json/json-object.ts';
import type { ParameterChange } from './parameter-changes.ts';
import { requestItems } from './request-items.ts';
import { type CallPart, partsOfItem } from './request-parts.ts';

/** A request, for which a provider may have a cache. */
export interface CachedRequest {
  endpoint: string;
  /** The model and the provider that answered; null where they are not known. */
  model: string | null;
  provider: string | null;
  /** The body: JSON. */
  request: unknown;
}

/** What the later call could read from the prompt cache of the earlier one. */
export interface CacheComparison {
  /** Tools, instructions and messages at the beginning of the request that are the same in both. */
  unchanged_items: number;
  /** The same by the parts of messages. */
  unchanged_parts: number;
  unchanged_characters: number;
  /** Of all parts of the later request. */
  characters: number;
  /** Where it ends before the end of the earlier request; null if the later one continues the earlier one. */
  break: CacheBreak | null;
}

export interface CacheBreak {
  /** `parameter`: one on which the cache depends. */
  reason: 'model' | 'provider' | 'parameter' | 'part';
  change: 'changed' | 'inserted' | 'removed';
  /** Of the part, in the later request, or of a removed one in the earlier request; or the name of the parameter. */
  path: string;
  /** What differs in it: `tools[7].description`. */
  at: string;
  role: string | null;
  /** The text around the first difference; null where the part or the parameter is missing. */
  before: string | null;
  after: string | null;
}

/** Of the text around the first difference. */
const excerpt = { before: 40, after: 80 };

/**
 * Compares a request with an earlier one in the order in which providers read them: up to the first difference, a provider can
 * reuse what it has cached.
 */
export function compareCache(
  before: CachedRequest,
  after: CachedRequest,
  parameters: readonly ParameterChange[],
): CacheComparison {
  const [earlier, later] = [partsByItem(before.request), partsByItem(after.request)];
  const [then, now] = [earlier.flat(), later.flat()];
  let same = 0;
  while (same < then.length && then[same]?.key === now[same]?.key) same += 1;
  let items = 0;
  let left = same;
  while (items < later.length && (later[items] as CallPart[]).length <= left) {
    left -= (later[items] as CallPart[]).length;
    items += 1;
  }
  const sum = (parts: readonly CallPart[]) => parts.reduce((total, { text }) => total + text.length, 0);
  const parameter = parameters.find(({ name }) => isPartOfCache(name, after.endpoint));
  return {
    unchanged_items: items,
    unchanged_parts: same,
    unchanged_characters: sum(now.slice(0, same)),
    characters: sum(now),
    break: otherCache(before, after) ?? partBreak(then, now, same) ?? parameterBreak(parameter),
  };
}

function partsByItem(request: unknown): CallPart[][] {
  return isObject(request) ? requestItems(request).map(partsOfItem) : [];
}

/** Models and providers have caches of their own. */
function otherCache(before: CachedRequest, after: CachedRequest): CacheBreak | null {
  for (const reason of ['model', 'provider'] as const) {
    const [from, to] = [before[reason], after[reason]];
    if (from !== null && to !== null && from !== to)
      return { reason, change: 'changed', path: reason, at: reason, role: null, before: from, after: to };
  }
  return null;
}

/** At the first part that is not the same, after as many that are. */
function partBreak(
  earlier: readonly CallPart[],
  later: readonly CallPart[],
  same: number,
): CacheBreak | null {
  const [then, now] = [earlier[same], later[same]];
  if (then === undefined) return null;
  const has = (parts: readonly CallPart[], { key }: CallPart) => parts.some((part) => part.key === key);
  const breakAt = ({ path, role }: CallPart) => ({ reason: 'part' as const, path, at: path, role });
  if (now === undefined || has(earlier.slice(same), now))
    return { ...breakAt(then), change: 'removed', before: around(then.text, 0), after: null };
  if (has(later.slice(same), then))
    return { ...breakAt(now), change: 'inserted', before: null, after: around(now.text, 0) };
  return { ...breakAt(now), change: 'changed', ...firstDifference(then.value, now.value, now.path) };
}

function parameterBreak(parameter: ParameterChange | undefined): CacheBreak | null {
  if (parameter === undefined) return null;
  const { name, before, after } = parameter;
  const change = before === null ? 'inserted' : after === null ? 'removed' : 'changed';
  return { reason: 'parameter', change, path: name, at: name, role: null, before, after };
}

/** Sources: Anthropic's and OpenAI's documentation, "Prompt caching". */
function isPartOfCache(name: string, endpoint: string): boolean {
  const form =
    endpoint === '/v1/messages'
      ? /^(tool_choice|thinking|output_config)(\.|$)/
      : /^(response_format|text\.format|prompt_cache_key)(\.|$)/;
  return form.test(name);
}

/** The innermost member that differs, and its text around the first difference. */
function firstDifference(
  before: unknown,
  after: unknown,
  at: string,
): Pick<CacheBreak, 'at' | 'before' | 'after'> {
  if (Array.isArray(before) && Array.isArray(after)) {
    const index = after.findIndex((element, position) => !isSame(element, before[position]));
    if (index >= 0 && index < before.length)
      return firstDifference(before[index], after[index], `${at}[${index}]`);
  } else if (isObject(before) && isObject(after)) {
    for (const name of Object.keys({ ...before, ...after })) {
      if (isSame(before[name], after[name])) continue;
      if (before[name] === undefined || after[name] === undefined) break;
      return firstDifference(before[name], after[name], `${at}.${name}`);
    }
  }
  const [then = '', now = ''] = [before, after].map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
  const end = Math.min(then.length, now.length);
  let same = 0;
  while (same < end && then[same] === now[same]) same += 1;
  return { at, before: around(then, same), after: around(now, same) };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - excerpt.before);
  const to = Math.min(text.length, at + excerpt.after);
  const cut = text.slice(from, to).toWellFormed();
  return `${from > 0 ? '…' : ''}${cut}${to < text.length ? '…' : ''}`;
}
