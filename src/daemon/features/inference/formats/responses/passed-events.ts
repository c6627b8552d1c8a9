import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseEvent } from '../../../../../shared/http/sse.ts';
import type { Output } from '../../../calls/index.ts';
import type { RawFrame } from '../../../upstreams/neutral.ts';
import { membersBefore } from '../members-before.ts';
import { FrameOrder } from './frame-order.ts';
import { knownEvents } from './known-events.ts';
import { showItem } from './render.ts';

/** Snapshots of the response are rendered by us, as are `service:*` events: they carry our id, cost and sealed reasoning. */
const snapshotEvents = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'response.done',
  'error',
]);

const deltaName = /^[\w.:-]+\.delta$/;

interface PassOptions {
  output: Output;
  nextSequence: () => number;
  sealed: boolean;
  /** Whether the client rejects events that OpenAI does not define. */
  strictEvents: boolean;
}

/**
 * A provider's events for a caller with the same format, including events unknown to us. Sequence numbers are ours since we
 * add events, item ids since items are stored by them, and reasoning carries our seal.
 */
export class PassedEvents {
  /** Whether the provider's frames are a stream that clients can read. */
  readonly order = new FrameOrder();
  readonly #options: PassOptions;
  #head: DeltaHead | undefined;
  /** The last frame that was passed on with this head. */
  #passedAs: RawFrame | undefined;
  /** Some providers write the number or the id after the delta. */
  #hasHeads = true;

  constructor(options: PassOptions) {
    this.#options = options;
  }

  pass(frames: readonly RawFrame[]): string {
    let text = '';
    for (const frame of frames) text += this.#delta(frame) ?? this.#event(frame.json);
    return text;
  }

  /** An event whose members before the delta are those of the last delta, apart from its number. What follows keeps its bytes. */
  #delta(frame: RawFrame): string | undefined {
    const { raw, like } = frame;
    const { nextSequence } = this.#options;
    const known = like !== undefined && like === this.#passedAs ? undefined : frame.json;
    const found = this.#head?.afterHead(raw, known);
    if (this.#head && found !== undefined) {
      this.#passedAs = like ?? frame;
      return this.#head.write(nextSequence(), raw, found);
    }
    const { json } = frame;
    if (!this.#hasHeads || typeof json.delta !== 'string') return undefined;
    if (this.#options.strictEvents && !knownEvents.has(String(json.type))) return undefined;
    this.#head = deltaHead(raw, this.#options.output);
    this.#hasHeads = this.#head !== undefined;
    return undefined;
  }

  #event(json: Json): string {
    const { output, nextSequence, sealed, strictEvents } = this.#options;
    const type = String(json.type);
    if (snapshotEvents.has(type) || type.startsWith('service:')) return '';
    if (strictEvents && !knownEvents.has(type)) return '';
    json.sequence_number = nextSequence();
    const { item, output_index: index } = json;
    if (typeof json.item_id === 'string')
      json.item_id = output.idOf({ id: json.item_id, index }) ?? json.item_id;
    if (isObject(item)) {
      const id = output.idOf({ id: item.id, index });
      json.item = withOurIds(item, id, { output, isDone: type === 'response.output_item.done', sealed });
    }
    return sseEvent(JSON.stringify(json), type);
  }
}

/** The text of an event up to its delta, before and after its sequence number: theirs, and what is written instead. */
class DeltaHead {
  /** Those before the delta. */
  readonly #members: Json;
  readonly #theirs: readonly [string, string];
  readonly #ours: readonly [string, string];

  constructor(members: Json, theirs: readonly [string, string], ours: readonly [string, string]) {
    this.#members = members;
    this.#theirs = theirs;
    this.#ours = ours;
  }

  /**
   * Where an event with this head goes on. A member behind the delta that repeats one of the head would replace it; `json` is undefined
   * if it is known that there is none.
   */
  afterHead(raw: string, json: Json | undefined): number | undefined {
    const [before, after] = this.#theirs;
    // Comparing a slice is several times faster than `startsWith`, which reads character by character.
    if (raw.slice(0, before.length) !== before) return undefined;
    let at = before.length;
    let number = 0;
    for (let code = raw.charCodeAt(at); isDigit(code); code = raw.charCodeAt(at)) {
      number = number * 10 + code - digitZero;
      at += 1;
    }
    const end = at + after.length;
    if (raw.slice(at, end) !== after) return undefined;
    if (json === undefined) return end;
    const { type, item_id, output_index, sequence_number } = json;
    const members = this.#members;
    const isSame =
      number === sequence_number &&
      type === members.type &&
      item_id === members.item_id &&
      output_index === members.output_index;
    return isSame ? end : undefined;
  }

  write(sequence: number, raw: string, from: number): string {
    const [before, after] = this.#ours;
    return `${before}${sequence}${after}${raw.slice(from)}\n\n`;
  }
}

const digitZero = 48;

function isDigit(code: number): boolean {
  return code >= digitZero && code <= digitZero + 9;
}

function deltaHead(raw: string, output: Output): DeltaHead | undefined {
  const { text = '', members = {} } = membersBefore(raw, 'delta') ?? {};
  const { type, sequence_number: number, item_id: theirs, ...rest } = members;
  // The name of an event is a line of its own.
  if (typeof type !== 'string' || !deltaName.test(type) || typeof theirs !== 'string') return undefined;
  const id = output.idOf({ id: theirs, index: rest.output_index });
  const [before, after, ...more] = text.split(`"sequence_number":${number}`);
  if (id === undefined || before === undefined || after === undefined || more.length > 0) return undefined;
  const ours = JSON.stringify({ item_id: id, ...rest }).slice(1, -1);
  return new DeltaHead(
    members,
    [`${before}"sequence_number":`, after],
    [`event: ${type}\ndata: {"type":${JSON.stringify(type)},"sequence_number":`, `,${ours},`],
  );
}

/** An item with our id; reasoning has our seal instead of the provider's. */
function withOurIds(
  item: Json,
  id: string | undefined,
  { output, isDone, sealed }: { output: Output; isDone: boolean; sealed: boolean },
): Json {
  const named = id === undefined ? item : { ...item, id };
  if (item.type !== 'reasoning') return named;
  const own = isDone ? output.items.find((candidate) => candidate.id === id) : undefined;
  if (own?.kind === 'reasoning') return showItem(own, { sealed, status: 'completed' });
  const { encrypted_content: _theirs, ...rest } = named;
  return rest;
}
