import type { MakeId } from '../../../../shared/ids.ts';
import { type Picture, pictureIn } from '../../../../shared/pictures.ts';
import { isObject, type Json } from '../fault.ts';
import type { InferenceEvent, ReasoningOrigin } from '../neutral.ts';

export type OutputPart =
  | { type: 'output_text'; text: string; annotations: Json[]; logprobs: unknown[] }
  | { type: 'refusal'; refusal: string };

/**
 * An output item while it grows. Its id is ours and never changes, so that every event and the final answer agree and
 * no two items that are stored have the same, whatever a provider numbers its own. `whole` is the item as a provider
 * of the Responses format told it, which may say more than is known here.
 */
export type OutputItem = { id: string; done: boolean } & (
  | { kind: 'message'; parts: OutputPart[]; whole: Json | undefined }
  | { kind: 'reasoning'; parts: string[]; sealed: string | undefined; whole: Json | undefined }
  | { kind: 'function_call'; callId: string; name: string; arguments: string; whole: Json | undefined }
  | { kind: 'opaque'; json: Json }
);

/** The picture that an item is, if it is one. */
export function pictureOf(item: OutputItem | undefined): Picture | undefined {
  return item?.kind === 'opaque' ? pictureIn(item.json) : undefined;
}

/** What an answer holds, put together from its events. */
export interface Output {
  items: OutputItem[];
  apply(event: InferenceEvent): void;
  /** Counts characters of the answer that are in none of its items: those of further choices. */
  count(characters: number): void;
  /** Our id of the item that a provider names by its own id, or by its place. */
  idOf(theirs: { id: unknown; index: unknown }): string | undefined;
  /** Characters of text, thoughts and arguments that were made so far: the base of an estimate. */
  characters(): number;
}

/** `seal` hides what a provider wants back of its reasoning. */
export function createOutput(makeId: MakeId, seal: (origin: ReasoningOrigin) => string): Output {
  const items: OutputItem[] = [];
  const ids = new Map<unknown, string>();
  let characters = 0;
  return {
    items,
    idOf: ({ id, index }) => ids.get(id) ?? (typeof index === 'number' ? items[index]?.id : undefined),
    characters: () => characters,
    count(more) {
      characters += more;
    },
    apply(event) {
      switch (event.type) {
        case 'item-started': {
          const item = start(event.item, makeId);
          items[event.index] = item;
          if (event.item.kind !== 'opaque' && event.item.id) ids.set(event.item.id, item.id);
          return;
        }
        case 'text':
          characters += event.delta.length;
          addText(items[event.index], event.delta, event.logprobs);
          return;
        case 'refusal':
          characters += event.delta.length;
          addRefusal(items[event.index], event.delta);
          return;
        case 'annotation':
          addAnnotation(items[event.index], event.annotation);
          return;
        case 'reasoning': {
          characters += event.delta.length;
          const item = items[event.index];
          if (item?.kind === 'reasoning')
            item.parts[event.part] = (item.parts[event.part] ?? '') + event.delta;
          return;
        }
        case 'arguments': {
          characters += event.delta.length;
          const item = items[event.index];
          if (item?.kind === 'function_call') item.arguments += event.delta;
          return;
        }
        case 'item-done':
          finish(items[event.index], event, seal);
      }
    },
  };
}

type Started = Extract<InferenceEvent, { type: 'item-started' }>['item'];

function start(item: Started, makeId: MakeId): OutputItem {
  switch (item.kind) {
    case 'message':
      return { kind: 'message', id: makeId('msg'), done: false, parts: [], whole: undefined };
    case 'reasoning':
      return {
        kind: 'reasoning',
        id: makeId('rs'),
        done: false,
        parts: [],
        sealed: undefined,
        whole: undefined,
      };
    case 'function_call':
      return {
        kind: 'function_call',
        id: makeId('fc'),
        done: false,
        callId: item.callId,
        name: item.name,
        arguments: '',
        whole: undefined,
      };
    case 'opaque': {
      const id = typeof item.json.id === 'string' ? item.json.id : makeId('ig');
      return { kind: 'opaque', id, done: false, json: { ...item.json, id } };
    }
  }
}

function addText(item: OutputItem | undefined, delta: string, logprobs: unknown[] | undefined): void {
  if (item?.kind !== 'message') return;
  const last = item.parts[item.parts.length - 1];
  if (last?.type === 'output_text') {
    last.text += delta;
    // There may be more of them than a call takes arguments.
    for (const logprob of logprobs ?? []) last.logprobs.push(logprob);
  } else
    item.parts.push({ type: 'output_text', text: delta, annotations: [], logprobs: [...(logprobs ?? [])] });
}

function addRefusal(item: OutputItem | undefined, delta: string): void {
  if (item?.kind !== 'message') return;
  const last = item.parts[item.parts.length - 1];
  if (last?.type === 'refusal') last.refusal += delta;
  else item.parts.push({ type: 'refusal', refusal: delta });
}

function addAnnotation(item: OutputItem | undefined, annotation: Json): void {
  if (item?.kind !== 'message') return;
  const text = item.parts.findLast((part) => part.type === 'output_text');
  if (text?.type === 'output_text') text.annotations.push(annotation);
}

type Done = Extract<InferenceEvent, { type: 'item-done' }>;

function finish(item: OutputItem | undefined, event: Done, seal: (origin: ReasoningOrigin) => string): void {
  if (!item) return;
  item.done = true;
  if (item.kind === 'opaque') {
    item.json = event.item ?? item.json;
    return;
  }
  item.whole = event.item;
  if (item.kind === 'function_call' && item.arguments === '') item.arguments = '{}';
  if (item.kind === 'reasoning' && event.origin) item.sealed = seal(event.origin);
}

export interface ShowOptions {
  /** Whether sealed reasoning is shown; it is always kept with a stored response. */
  sealed: boolean;
  status: 'in_progress' | 'completed' | 'incomplete';
}

/** An item in the Responses format. */
export function showItem(item: OutputItem, { sealed, status }: ShowOptions): Json {
  switch (item.kind) {
    case 'message':
      return {
        ...item.whole,
        id: item.id,
        type: 'message',
        status: item.whole?.status ?? status,
        role: 'assistant',
        content: wholeContent(item.whole) ?? item.parts.map(showPart),
      };
    case 'function_call':
      return {
        ...item.whole,
        id: item.id,
        type: 'function_call',
        status: item.whole?.status ?? status,
        call_id: item.callId,
        name: item.name,
        arguments: item.arguments,
      };
    case 'reasoning': {
      const { encrypted_content: _theirs, ...whole } = item.whole ?? {};
      const summary = item.parts
        .filter((text) => text !== undefined)
        .map((text) => ({ type: 'summary_text', text }));
      const shown: Json = { ...whole, id: item.id, type: 'reasoning', summary: whole.summary ?? summary };
      if (sealed && item.sealed !== undefined) shown.encrypted_content = item.sealed;
      return shown;
    }
    case 'opaque':
      return item.json;
  }
}

/** The parts as their provider told them: places in a text, as annotations name them, are counted in each part anew. */
function wholeContent(whole: Json | undefined): Json[] | undefined {
  const content = Array.isArray(whole?.content) ? whole.content.filter(isObject) : [];
  if (content.length === 0) return undefined;
  return content.map((part) =>
    part.type === 'output_text'
      ? { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] }
      : part,
  );
}

/** A content part in the Responses format. */
export function showPart(part: OutputPart): Json {
  return part.type === 'refusal'
    ? { type: 'refusal', refusal: part.refusal }
    : { type: 'output_text', text: part.text, annotations: part.annotations, logprobs: part.logprobs };
}

/** All items in the Responses format. An item that never ended is incomplete, and the last one of a cut answer is too. */
export function showOutput(
  items: readonly OutputItem[],
  { sealed, isCut }: { sealed: boolean; isCut: boolean },
): Json[] {
  const last = items.length - 1;
  return items.map((item, index) => {
    const isWhole = item.done && !(isCut && index === last);
    return showItem(item, { sealed, status: isWhole ? 'completed' : 'incomplete' });
  });
}
