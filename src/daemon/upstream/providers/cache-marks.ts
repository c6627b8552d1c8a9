import { withoutBillingLine } from '../../../shared/text/billing-line.ts';
import {
  type CacheMark,
  type ContentPart,
  cacheMark,
  cacheMarkIn,
  type Inference,
  type InputItem,
  partsOf,
} from '../../features/upstreams/neutral.ts';
import { type Json, objectOf, objectsOf } from '../json.ts';

/** How a server is told where to cache a prompt; undefined if it is told nothing. */
export type MarkForm = 'cache_control' | 'prompt_cache_breakpoint' | undefined;

/**
 * A part with its mark in this form. Source: OpenRouter's page on prompt caching, and OpenAI's, whose breakpoints have no lifetime of
 * their own.
 */
export function markedPart(part: Json, { cacheControl }: CacheMark, form: MarkForm): Json {
  if (cacheControl === undefined || form === undefined) return part;
  if (form === 'cache_control') return { ...part, cache_control: cacheControl };
  return { ...part, prompt_cache_breakpoint: { mode: 'explicit' } };
}

/** Parts as `write` turns them into those of a server, with their marks; the last one has that of its item, if there is one. */
export function markedParts(
  parts: readonly ContentPart[],
  { item, form, write }: { item: CacheMark; form: MarkForm; write: (part: ContentPart) => Json },
): Json[] {
  return parts.map((part, at) =>
    markedPart(write(part), at === parts.length - 1 && item.cacheControl ? item : part, form),
  );
}

/** Whether a model of OpenAI takes breakpoints, by its name; older ones refuse them. Source: coder/mux#3712, can1357/oh-my-pi#12780. */
export function takesBreakpoints(model: string): boolean {
  return /(^|\/)gpt-(5\.([6-9]|\d\d)|[6-9]|1\d)/.test(model);
}

/** Whether a model caches only what is marked, by its name, with or without that of its maker. */
export function cachesMarkedOnly(model: string): boolean {
  return /(^|[/.])claude-/.test(model);
}

const cachingMembers = [
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'cache_control'],
];

/**
 * The mark for the end of the prompt of a caller who asks for caching as a whole; undefined for others, as writing to a cache costs
 * extra where it has to be asked for.
 */
export function automaticMark({ body }: Pick<Inference, 'body'>): CacheMark | undefined {
  if (!cachingMembers.some((name) => body[name])) return undefined;
  return cacheMark(objectOf(body.cache_control)?.ttl);
}

/** Chat messages with marks at the end of the first ones that instruct, and of all. */
export function markedEnds(messages: readonly Json[], mark: CacheMark): readonly Json[] {
  const instructions = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer') - 1;
  return messages.map((message, at) =>
    at === instructions || at === messages.length - 1 ? markedMessage(message, mark) : message,
  );
}

/**
 * A chat message with a mark at its last part, unless that has one. OpenRouter may hang on one beside the content of a tool's output.
 * Source: NousResearch/hermes-agent#2391 and #58129.
 */
export function markedMessage(message: Json, mark: CacheMark): Json {
  const { role, content } = message;
  const parts: Json[] = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  const last = parts.at(-1);
  if (role === 'assistant' || last === undefined || last.text === '' || last.cache_control) return message;
  return { ...message, content: [...parts.slice(0, -1), markedPart(last, mark, 'cache_control')] };
}

/** Anthropic refuses more in one request. */
export const cacheMarksMax = 4;

/** Removes marks from the middle: the first ones are of tools and instructions, the last ones of the newest messages. */
export function limitMarks(blocks: readonly Json[], { most }: { most: number }): void {
  const marks = blocks.filter((block) => block.cache_control);
  const first = Math.min(2, most);
  for (const block of marks.slice(first, Math.max(first, marks.length - (most - first))))
    block.cache_control = undefined;
}

/** Whether the caller marked an item or a part of one. */
export function hasMarks(items: readonly InputItem[]): boolean {
  return items.some(
    (item) =>
      ('cacheControl' in item && item.cacheControl) || partsOf(item).some(({ cacheControl }) => cacheControl),
  );
}

type MarkedText = CacheMark & { text: string };

/** The instructions of a call in the Messages format as the texts that they are made of, if one of them is marked. */
export function markedInstructions({
  wire,
  body,
  instructions,
}: Pick<Inference, 'wire' | 'body' | 'instructions'>): MarkedText[] | undefined {
  if (wire !== 'messages' || instructions === undefined) return undefined;
  const texts = objectsOf(body.system).flatMap((block): MarkedText[] => {
    const text = typeof block.text === 'string' ? withoutBillingLine(block.text) : '';
    return text === '' ? [] : [{ text, ...cacheMarkIn(block) }];
  });
  const isWhole = texts.map(({ text }) => text).join('\n\n') === instructions;
  return isWhole && texts.some(({ cacheControl }) => cacheControl) ? texts : undefined;
}
