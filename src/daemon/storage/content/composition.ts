import { parameterChanges } from '../../../shared/comparison/parameter-changes.ts';
import { compareCache } from '../../../shared/comparison/prompt-cache.ts';
import {
  contentMembers,
  mediaIn,
  type RequestItem,
  requestItems,
} from '../../../shared/comparison/request-items.ts';
import { partsOfItem } from '../../../shared/comparison/request-parts.ts';
import type { PartKind } from '../../../shared/constants/part-kinds.ts';
import { estimateTokens, imageTokensTypical } from '../../../shared/formats/estimate-tokens.ts';
import { type JsonObject, parseObject } from '../../../shared/json/json-object.ts';
import type { RequestChanges } from '../../features/capture/index.ts';
import { type JsonSpan, jsonSpans } from './json-spans.ts';

/** A part of a request in the order in which models read it: tools, instructions, messages; parameters come last. */
export interface ComposedPart {
  /** `messages[3]`. */
  path: string;
  kind: PartKind;
  role: string | null;
  /** Of a tool, or of the function that is called. */
  name: string | null;
  /** Where it is in the text of the request. */
  start: number;
  end: number;
  /** Without parts of their own in it, such as images. */
  bytes: number;
  tokens: number;
}

/** A request, and what it consists of. */
export interface ComposedRequest {
  body: JsonObject;
  /** The parts of each tool, instruction and message, which are itself and the images, audio and files in it. */
  items: ComposedPart[][];
  parameters: ComposedPart[];
}

/** Parameters that models read. */
const readParameters: ReadonlySet<string> = new Set(['response_format', 'text', 'output_config']);
/** How the answer is sent, or what the provider notes of the request: nothing that the model reads. */
const unreadParameters: ReadonlySet<string> = new Set([
  'stream',
  'stream_options',
  'service',
  'metadata',
  'store',
  'user',
  'safety_identifier',
  'prompt_cache_key',
]);

/** What a request in any format consists of; undefined for a text that is no JSON object. */
export function composeRequest(text: string): ComposedRequest | undefined {
  const body = parseObject(text);
  if (body === undefined) return undefined;
  const spans = new Spans(text);
  const parameters = spans.members().filter(({ name }) => !contentMembers.some((one) => one === name));
  return {
    body,
    items: requestItems(body).map((item) => partsOf(text, item, spans)),
    parameters: parameters.map((span) => {
      const part = partAt(text, span, { path: String(span.name), kind: 'parameter', role: null, name: null });
      return readParameters.has(part.path) ? part : { ...part, tokens: 0 };
    }),
  };
}

/** What differs between a request and an earlier one of its conversation. */
export function changesSince(
  earlier: ComposedRequest,
  { body, items }: ComposedRequest,
  endpoint: string,
): RequestChanges {
  const parameters = parameterChanges(earlier.body, body);
  const cached = (request: JsonObject) => ({
    endpoint,
    model: typeof request.model === 'string' ? request.model : null,
    provider: null,
    request,
  });
  const { unchanged_items: unchanged, break: broke } = compareCache(
    cached(earlier.body),
    cached(body),
    parameters,
  );
  const names = parameters
    .map(({ name }) => name.replace(/\..*/, ''))
    .filter((name) => !unreadParameters.has(name));
  // A request that ends earlier finds all of itself in the cache.
  const isWithin = unchanged === items.length && broke?.reason === 'part';
  return {
    unchanged: broke?.reason === 'model' ? [] : items.slice(0, unchanged).flat(),
    changedParameters: [...new Set(names)].sort(),
    broke:
      broke === null || isWithin
        ? null
        : { path: broke.at, change: broke.change, before: broke.before ?? '', after: broke.after ?? '' },
  };
}

/** The first message of the user, by which a conversation without a name is recognised; undefined without one. */
export function openingOf({ body }: ComposedRequest): string | undefined {
  const first = requestItems(body).find(
    ({ kind, role }) => kind === 'message' && (role === 'user' || role === null),
  );
  return first && JSON.stringify(partsOfItem(first).map(({ key }) => key));
}

function partsOf(text: string, item: RequestItem, spans: Spans): ComposedPart[] {
  const media = mediaIn(item).map((one) => {
    const part = partAt(text, spans.at(one.path), one);
    return one.kind === 'image' ? { ...part, tokens: imageTokensTypical } : part;
  });
  const [whole] = media;
  // An item that is an image itself.
  if (whole?.path === item.path) return media;
  const part = partAt(text, spans.at(item.path), item);
  const bytes = part.bytes - media.reduce((sum, { bytes: own }) => sum + own, 0);
  return [{ ...part, bytes, tokens: estimateTokens(bytes) }, ...media];
}

/** Where the values of a JSON text are. */
class Spans {
  readonly #text: string;
  readonly #known = new Map<number, Map<string, JsonSpan>>();

  constructor(text: string) {
    this.#text = text;
  }

  members(): JsonSpan[] {
    return [...this.#within(this.#text.search(/[^ \t\n\r]/)).values()];
  }

  /** Of the value with a path such as `messages[3].content[1]`. */
  at(path: string): JsonSpan {
    const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
    const start = this.#text.search(/[^ \t\n\r]/);
    let span: JsonSpan = { name: '', start, end: this.#text.length };
    for (const step of steps) span = this.#within(span.start).get(step) as JsonSpan;
    return span;
  }

  /** Of members with the same name, the last one counts. */
  #within(start: number): Map<string, JsonSpan> {
    const known = this.#known.get(start);
    if (known !== undefined) return known;
    const found = new Map(jsonSpans(this.#text, start).map((span) => [String(span.name), span]));
    this.#known.set(start, found);
    return found;
  }
}

function partAt(
  text: string,
  { start, end }: JsonSpan,
  { path, kind, role, name }: Pick<ComposedPart, 'path' | 'kind' | 'role' | 'name'>,
): ComposedPart {
  const bytes = Buffer.byteLength(text.slice(start, end));
  return { path, kind, role, name, start, end, bytes, tokens: estimateTokens(bytes) };
}
