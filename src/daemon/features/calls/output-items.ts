import type { Json } from '../../../shared/faults/invalid-request.ts';
import { type Picture, pictureIn } from '../../../shared/formats/pictures.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { InferenceEvent, ReasoningOrigin, ToolName } from '../upstreams/neutral.ts';

export type OutputPart =
  | { type: 'output_text'; text: string; annotations: Json[]; logprobs: unknown[] }
  | { type: 'refusal'; refusal: string };

/**
 * An output item while it grows. Its id is ours, whatever the provider's own: it is unique among stored items, and the
 * same in every event and the final answer. `whole` is the complete item of a provider with the Responses format, which
 * may have members unknown to us.
 */
export type OutputItem = { id: string; done: boolean } & (
  | { kind: 'message'; parts: OutputPart[]; whole: Json | undefined }
  | { kind: 'reasoning'; parts: string[]; sealed: string | undefined; whole: Json | undefined }
  | ({ kind: 'function_call'; callId: string; arguments: string; whole: Json | undefined } & ToolName)
  | { kind: 'opaque'; json: Json }
);

/** The image of an item, if it is one. */
export function pictureOf(item: OutputItem | undefined): Picture | undefined {
  return item?.kind === 'opaque' ? pictureIn(item.json) : undefined;
}

/** The items of an answer, assembled from its events. */
export interface Output {
  items: OutputItem[];
  apply(event: InferenceEvent): void;
  /** The caller's stop sequence that ended the answer, where the provider reports it. */
  readonly stopSequence: string | undefined;
  /** What else the provider says, for callers of the Responses format. */
  members: Json | undefined;
  /** Counts characters of further choices, which `items` does not hold. */
  count(characters: number): void;
  /** Our id of an item, by the provider's id or index. */
  idOf(theirs: { id: unknown; index: unknown }): string | undefined;
  /** Characters of text, reasoning and arguments so far: the basis of usage estimates. */
  characters(): number;
}

/** `seal` encrypts reasoning that the provider needs to see again. */
export function createOutput(makeId: MakeId, seal: (origin: ReasoningOrigin) => string): Output {
  return new AssembledOutput(makeId, seal);
}

/** Parts of a text after which they are joined: on average, each character of a long answer is copied some dozen times. */
const loosePartsMax = 512;

class AssembledOutput implements Output {
  readonly items: OutputItem[] = [];
  stopSequence: string | undefined;
  members: Json | undefined;
  readonly #makeId: MakeId;
  readonly #seal: (origin: ReasoningOrigin) => string;
  /** Our ids by the provider's; not needed for an answer that is a document. */
  #ids: Map<unknown, string> | undefined;
  #characters = 0;
  #looseParts = 0;

  constructor(makeId: MakeId, seal: (origin: ReasoningOrigin) => string) {
    this.#makeId = makeId;
    this.#seal = seal;
  }

  idOf({ id, index }: { id: unknown; index: unknown }): string | undefined {
    return this.#ids?.get(id) ?? (typeof index === 'number' ? this.items[index]?.id : undefined);
  }

  characters(): number {
    return this.#characters;
  }

  count(characters: number): void {
    this.#characters += characters;
  }

  apply(event: InferenceEvent): void {
    const { items } = this;
    switch (event.type) {
      case 'item-started': {
        const item = start(event.item, this.#makeId);
        items[event.index] = item;
        if (event.item.kind !== 'opaque' && event.item.id) {
          this.#ids ??= new Map();
          this.#ids.set(event.item.id, item.id);
        }
        return;
      }
      case 'text':
        this.#characters += event.delta.length;
        addText(items[event.index], event.delta, event.logprobs);
        this.#added(items[event.index]);
        return;
      case 'refusal':
        this.#characters += event.delta.length;
        addRefusal(items[event.index], event.delta);
        return;
      case 'annotation':
        addAnnotation(items[event.index], event.annotation);
        return;
      case 'reasoning': {
        this.#characters += event.delta.length;
        const item = items[event.index];
        if (item?.kind === 'reasoning') item.parts[event.part] = (item.parts[event.part] ?? '') + event.delta;
        this.#added(item);
        return;
      }
      case 'arguments': {
        this.#characters += event.delta.length;
        const item = items[event.index];
        if (item?.kind === 'function_call') item.arguments += event.delta;
        this.#added(item);
        return;
      }
      case 'item-done':
        finish(items[event.index], event, this.#seal);
        return;
      case 'finished':
        this.stopSequence = event.stopSequence;
        this.members = event.members;
    }
  }

  /** A text that is added to stays the many strings that it was joined of, in a hundred bytes each, until it is searched. */
  #added(item: OutputItem | undefined): void {
    this.#looseParts += 1;
    if (this.#looseParts < loosePartsMax) return;
    this.#looseParts = 0;
    /^/.test(growingText(item));
  }
}

/** The text of an item that grows. */
function growingText(item: OutputItem | undefined): string {
  if (item?.kind === 'function_call') return item.arguments;
  if (item?.kind === 'reasoning') return item.parts.at(-1) ?? '';
  const last = item?.kind === 'message' ? item.parts.at(-1) : undefined;
  return last?.type === 'output_text' ? last.text : '';
}

type Started = Extract<InferenceEvent, { type: 'item-started' }>['item'];

const builtinIds = { tool_search: 'tsc', shell: 'sh', local_shell: 'lsh', apply_patch: 'apc' } as const;

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
    case 'function_call': {
      const { kind, callId, name, namespace, custom, builtin } = item;
      return {
        kind,
        id: makeId(custom ? 'ctc' : builtin === undefined ? 'fc' : builtinIds[builtin]),
        done: false,
        callId,
        name,
        ...(namespace !== undefined && { namespace }),
        ...(custom && { custom }),
        ...(builtin !== undefined && { builtin }),
        arguments: '',
        whole: undefined,
      };
    }
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
    // Not spread: there may be more than a function call can take as arguments.
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
  if (item.kind === 'function_call' && !item.custom && item.arguments === '') item.arguments = '{}';
  if (item.kind === 'reasoning' && event.origin) item.sealed = seal(event.origin);
}
