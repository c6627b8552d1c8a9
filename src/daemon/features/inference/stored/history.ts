import { modelCallBodyLimit } from '../../../../shared/contract/model-call.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { MakeId } from '../../../../shared/ids.ts';
import { isCompactionJson, type OpenSummary } from '../compaction/compaction-item.ts';
import { invalid, isObject, type Json, quoted } from '../fault.ts';
import { checkCallIds, type OpenSealed, parseInput, parseItem } from '../formats/responses/items.ts';
import type { InputItem } from '../neutral.ts';
import type { ResponsesStore, StoredTurn } from './responses-store.ts';

/** What is sent by reference may be as long as what is sent. */
const historyBytesMax = modelCallBodyLimit;
/** Each of them is looked up by itself. */
const referencesMax = 10_000;

interface HistoryOptions {
  store: Pick<ResponsesStore, 'chain' | 'items'>;
  workspaceId: string;
  now: number;
  open: OpenSealed;
  openSummary?: OpenSummary;
  /** What a call in a thread continues: items in the Responses format. */
  earlier?: readonly Json[] | undefined;
}

export interface ResolvedInput {
  /** History first, then this call's own items. */
  items: InputItem[];
  /** This call's own items in the Responses format, completed from what is stored. */
  own: Json[];
}

/** Brings together what a Responses call continues and what it adds. Other workspaces' responses do not exist here. */
export async function resolveInput(
  body: { input?: unknown; previous_response_id?: string | null },
  options: HistoryOptions,
): Promise<ResolvedInput> {
  const before = body.previous_response_id
    ? await earlierItems(body.previous_response_id, options)
    : parseEarlier(options.earlier ?? [], options);
  const { input } = body;
  if (!Array.isArray(input)) {
    const items = input === undefined ? [] : parseInput(input, options.open, options.openSummary);
    const own: Json[] = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : [];
    return { items: [...before, ...items], own };
  }
  const isComplete = !input.some((item) => isReference(item) || lacksSeal(item));
  const own = isComplete ? (input as Json[]) : await completeFromStore(input, options);
  const items = [...before, ...parseInput(own, options.open, options.openSummary)];
  checkCallIds(items, before.length);
  return { items, own };
}

/** The items of a thread as a call continues them. */
export function parseEarlier(
  items: readonly Json[],
  { open, openSummary = () => undefined }: Pick<HistoryOptions, 'open' | 'openSummary'>,
): InputItem[] {
  return items.map((item, index) => parseItem(item, { param: `thread[${index}]`, open, openSummary }));
}

async function earlierItems(
  id: string,
  { store, workspaceId, now, open, openSummary = () => undefined }: HistoryOptions,
): Promise<InputItem[]> {
  const chain = await store.chain(workspaceId, id, { at: now, bytesMax: historyBytesMax });
  if (chain === 'too-long') throw tooLong('previous_response_id');
  if (!chain) {
    throw new ApiError('previous_response_not_found', {
      param: 'previous_response_id',
      message: `Previous response with id ${quoted(id)} not found.`,
    });
  }
  return itemsSinceSummary(chain).map((item, index) =>
    parseItem(item, { param: `previous_response_id[${index}]`, open, openSummary }),
  );
}

/** The items of all turns. A summary in an answer stands for everything before it. */
function itemsSinceSummary(chain: readonly StoredTurn[]): Json[] {
  let items: Json[] = [];
  for (const { input, output } of chain) {
    const made = JSON.parse(output) as Json[];
    const summary = made.findLastIndex(isCompactionJson);
    items = summary < 0 ? items.concat(JSON.parse(input) as Json[], made) : made.slice(summary);
  }
  return items;
}

/** Some clients leave the type out and send the id alone. */
function isReference(item: unknown): item is { id: string } {
  if (!isObject(item) || typeof item.id !== 'string') return false;
  return item.type === 'item_reference' || (item.type === undefined && item.role === undefined);
}

/** A client that relies on stored responses sends thoughts back as it was shown them: by id, without their seal. */
function lacksSeal(item: unknown): item is Json & { id: string } {
  if (!isObject(item) || item.type !== 'reasoning' || typeof item.id !== 'string') return false;
  return item.encrypted_content === undefined || item.encrypted_content === null;
}

function tooLong(param: string): ApiError {
  return new ApiError('context_length_exceeded', {
    param,
    message: `What this refers to is longer than ${historyBytesMax / 1024 / 1024} MiB.`,
  });
}

async function completeFromStore(
  input: readonly unknown[],
  { store, workspaceId, now }: HistoryOptions,
): Promise<Json[]> {
  const ids = new Set(input.filter((item) => isReference(item) || lacksSeal(item)).map(({ id }) => id));
  if (ids.size > referencesMax)
    throw invalid('input', `No more than ${referencesMax} items can be referred to by their ids.`);
  const found = await store.items(workspaceId, ids, { at: now, bytesMax: historyBytesMax });
  if (found === 'too-long') throw tooLong('input');
  const parsed = new Map<string, Json>();
  let left = historyBytesMax;
  const stored = (id: string): Json | undefined => {
    const text = found.get(id);
    if (text === undefined) return undefined;
    // An item may be named many times: it is parsed once, but counts each time.
    left -= text.length;
    if (left < 0) throw tooLong('input');
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
      message: `Item with id ${quoted(item.id)} not found. Only items of stored responses can be referred to.`,
    });
  });
}

function sealOf(stored: Json | undefined): Json {
  const sealed = stored?.type === 'reasoning' ? stored.encrypted_content : undefined;
  return typeof sealed === 'string' ? { encrypted_content: sealed } : {};
}

/** Gives items their ids before they are stored, so that they can be listed and referred to. */
export function withIds(items: readonly Json[], makeId: MakeId): Json[] {
  return items.map((item) => (typeof item.id === 'string' ? item : { ...item, id: makeId('msg') }));
}
