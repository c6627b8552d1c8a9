import { modelCallBodyLimit } from '../../../../shared/contract/model-call.ts';
import { ApiError } from '../../../../shared/errors.ts';
import { invalid, isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../../shared/faults/not-found.ts';
import type { MakeId } from '../../../../shared/ids.ts';
import { haveTooManyContainers, requestShape } from '../../../../shared/json/json-text.ts';
import type { InputItem } from '../../upstreams/neutral.ts';
import {
  checkArguments,
  checkCallIds,
  isCompactionJson,
  type OpenSealed,
  type OpenSummary,
  parseInput,
  parseItem,
} from '../formats/responses/parse-input.ts';
import type { ResponsesStore, StoredTurn } from './responses-store.ts';

/** Referenced items may be as long in total as a request body. */
const historyBytesMax = modelCallBodyLimit;
/** Each reference is a lookup. */
const referencesMax = 10_000;

interface HistoryOptions {
  store: Pick<ResponsesStore, 'chain' | 'items'>;
  workspaceId: string;
  now: number;
  open: OpenSealed;
  openSummary?: OpenSummary;
  /** The items of the thread that a call continues, in the Responses format. */
  earlier?: readonly Json[] | undefined;
}

export interface ResolvedInput {
  /** History first, then the items of this call. */
  items: InputItem[];
  /** The items of this call alone, in the Responses format; references are replaced by the stored items. */
  ownItems: Json[];
  /** The id of the response that began the conversation; null for a call that continues none. */
  firstResponseId: string | null;
}

/** Joins the input of a Responses call with the response or thread that it continues. */
export async function resolveInput(
  body: { input?: unknown; previous_response_id?: string | null },
  options: HistoryOptions,
): Promise<ResolvedInput> {
  const chain = body.previous_response_id
    ? await earlierTurns(body.previous_response_id, options)
    : undefined;
  const before = chain ? itemsOf(chain, options) : parseEarlier(options.earlier ?? [], options);
  const firstResponseId = chain?.[0]?.id ?? null;
  const { input } = body;
  if (!Array.isArray(input)) {
    const items = input === undefined ? [] : parseInput(input, options.open, options.openSummary);
    const ownItems = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : [];
    return { items: [...before, ...items], ownItems, firstResponseId };
  }
  const isComplete = !input.some((item) => isReference(item) || lacksSeal(item));
  const ownItems = isComplete ? (input as Json[]) : await completeFromStore(input, options);
  const items = [...before, ...parseInput(ownItems, options.open, options.openSummary)];
  checkCallIds(items, before.length);
  checkArguments(items, 'input');
  return { items, ownItems, firstResponseId };
}

/** Parses the items of a thread. */
export function parseEarlier(
  items: readonly Json[],
  { open, openSummary = () => undefined }: Pick<HistoryOptions, 'open' | 'openSummary'>,
): InputItem[] {
  return items.map((item, index) => parseItem(item, { param: `thread[${index}]`, open, openSummary }));
}

async function earlierTurns(
  id: string,
  { store, workspaceId, now }: HistoryOptions,
): Promise<readonly StoredTurn[]> {
  const chain = await store.chain(workspaceId, id, { at: now, bytesMax: historyBytesMax });
  if (chain === 'too-long') throw tooLong('previous_response_id');
  if (!chain) {
    throw new ApiError('previous_response_not_found', {
      param: 'previous_response_id',
      message: `Previous response with id ${quoted(id)} not found.`,
    });
  }
  if (haveTooManyContainers(chain.flatMap(({ input, output }) => [input, output])))
    throw tooManyItems('previous_response_id');
  return chain;
}

function itemsOf(
  chain: readonly StoredTurn[],
  { open, openSummary = () => undefined }: HistoryOptions,
): InputItem[] {
  return itemsSinceSummary(chain).map((item, index) =>
    parseItem(item, { param: `previous_response_id[${index}]`, open, openSummary }),
  );
}

/** The items of all turns. A summary in an answer replaces everything before it. */
function itemsSinceSummary(chain: readonly StoredTurn[]): Json[] {
  let items: Json[] = [];
  for (const { input, output } of chain) {
    const answer = JSON.parse(output) as Json[];
    const summary = answer.findLastIndex(isCompactionJson);
    items = summary < 0 ? items.concat(JSON.parse(input) as Json[], answer) : answer.slice(summary);
  }
  return items;
}

/** Some clients send the id alone, without a type. */
function isReference(item: unknown): item is { id: string } {
  if (!isObject(item) || typeof item.id !== 'string') return false;
  return item.type === 'item_reference' || (item.type === undefined && item.role === undefined);
}

/** Clients of stored responses send reasoning back by id, without its encrypted content. */
function lacksSeal(item: unknown): item is Json & { id: string } {
  if (!isObject(item) || item.type !== 'reasoning' || typeof item.id !== 'string') return false;
  return item.encrypted_content === undefined || item.encrypted_content === null;
}

function tooLong(param: string): ApiError {
  return new ApiError('context_length_exceeded', {
    param,
    message: `The prompt is too long: the referenced items are longer than ${historyBytesMax / 1024 / 1024} MiB.`,
  });
}

function tooManyItems(param: string): ApiError {
  return new ApiError('context_length_exceeded', {
    param,
    message: `The prompt is too long: the referenced items have more than ${requestShape.containersMax} objects and arrays.`,
  });
}

async function completeFromStore(
  input: readonly unknown[],
  { store, workspaceId, now }: HistoryOptions,
): Promise<Json[]> {
  const ids = new Set(input.filter((item) => isReference(item) || lacksSeal(item)).map(({ id }) => id));
  if (ids.size > referencesMax)
    throw invalid('input', `At most ${referencesMax} items can be referenced by id.`);
  const found = await store.items(workspaceId, ids, { at: now, bytesMax: historyBytesMax });
  if (found === 'too-long') throw tooLong('input');
  // An item referenced many times is parsed once, but counts each time.
  const texts = input.flatMap((item) => {
    const isStored = isReference(item) || lacksSeal(item);
    return (isStored && found.get(item.id)) || [];
  });
  if (texts.reduce((sum, { length }) => sum + length, 0) > historyBytesMax) throw tooLong('input');
  if (haveTooManyContainers(texts)) throw tooManyItems('input');
  const parsed = new Map<string, Json>();
  const stored = (id: string): Json | undefined => {
    const text = found.get(id);
    if (text === undefined) return undefined;
    const item = parsed.get(id) ?? (JSON.parse(text) as Json);
    parsed.set(id, item);
    return item;
  };
  return input.map((item, index) => {
    if (lacksSeal(item)) return { ...item, ...sealOf(stored(item.id)) };
    if (!isReference(item)) return item as Json;
    const whole = stored(item.id);
    if (whole !== undefined) return whole;
    throw new ApiError('not_found', {
      param: `input[${index}].id`,
      message: `Item with id ${quoted(item.id)} not found. Only items of stored responses can be referenced.`,
    });
  });
}

function sealOf(stored: Json | undefined): Json {
  const sealed = stored?.type === 'reasoning' ? stored.encrypted_content : undefined;
  return typeof sealed === 'string' ? { encrypted_content: sealed } : {};
}

/** Gives items ids before they are stored, so that they can be listed and referenced. */
export function withIds(items: readonly Json[], makeId: MakeId): Json[] {
  return items.map((item) => (typeof item.id === 'string' ? item : { ...item, id: makeId('msg') }));
}
