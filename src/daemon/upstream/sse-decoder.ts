import { SseReader } from '../../shared/http/sse.ts';
import type { Batch, InferenceEvent } from '../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../features/upstreams/upstream.ts';
import type { Decoder } from './adapter.ts';
import { AlikeFrame, EventShape } from './event-shape.ts';
import { isObject, isTooDeep } from './json.ts';

/** Interprets the JSON objects of one streaming format. */
export interface Dialect {
  /** Takes one object and its text on a single line; adds to the batch. Throws an UpstreamFailure for an error event. */
  take(json: Record<string, unknown>, raw: string, batch: Batch): void;
  /** Called at `[DONE]` or after the last byte. Throws an UpstreamFailure of kind `broken` if the answer is incomplete. */
  finish(batch: Batch, at: 'done-mark' | 'last-byte'): void;
  /** Set by a final event that needs no `[DONE]` after it. */
  readonly isComplete: boolean;
  /** Set after the finish reason, in formats where more may follow it. */
  readonly hasFinished?: boolean;
  /** The text that the last object added to the answer, if it did nothing else and was passed on as it is. */
  readonly addedText?: string | undefined;
  /** Takes the text of an object that is otherwise like the last one. Returns false if it has to be taken as a whole. */
  addText?(text: string, events: InferenceEvent[]): boolean;
}

/** After so many shapes that no other event had, none is looked for. */
const shapesTriedMax = 16;

/** Decodes server-sent events of JSON objects, ended by `[DONE]` in most formats. */
export class SseJsonDecoder implements Decoder {
  isComplete = false;
  failure: UpstreamFailure | undefined;
  readonly #reader = new SseReader();
  readonly #dialect: Dialect;
  readonly #name: string;
  readonly #hasFrames: boolean;
  /** That of the last event, if another one may have it, and the name of that event. */
  #shape: EventShape | undefined;
  #shapeName = '';
  #shapesTried = 0;

  /** `hasFrames`: whether the caller speaks the same format, so that lines can be relayed. */
  constructor(name: string, dialect: Dialect, { hasFrames }: { hasFrames: boolean }) {
    this.#name = name;
    this.#dialect = dialect;
    this.#hasFrames = hasFrames;
  }

  get hasFinished(): boolean {
    return this.#dialect.hasFinished ?? false;
  }

  push(bytes: Uint8Array): Batch {
    const batch = this.#emptyBatch();
    if (this.isComplete) return batch;
    const events = this.#reader.push(bytes);
    try {
      for (const event of events) {
        this.#take(event.event, event.data, batch);
        if (this.isComplete) break;
      }
    } catch (error) {
      // Content before the failure will be billed, so it must not be lost.
      if (batch.events.length === 0 || !(error instanceof UpstreamFailure)) throw error;
      this.failure = error;
    }
    return batch;
  }

  end(): Batch {
    const batch = this.#emptyBatch();
    if (this.isComplete) return batch;
    for (const event of this.#reader.end()) {
      // The last event may be cut off; `finish` decides whether that matters.
      if (isWholeJson(event.data)) this.#take(event.event, event.data, batch);
    }
    if (!this.isComplete) this.#finish(batch, 'last-byte');
    return batch;
  }

  #take(event: string, data: string, batch: Batch): void {
    if (this.#shape !== undefined && this.#takeAlike(this.#shape, event, data, batch)) return;
    this.#shape = undefined;
    if (isDoneMark(data)) {
      this.#finish(batch, 'done-mark');
      return;
    }
    if (data.length < 16 && data.trim() === '') return;
    const json = this.#parse(event, data);
    if (json === null) return;
    if (Array.isArray(json)) {
      for (const each of json) this.#takeObject(each, JSON.stringify(each), batch);
      return;
    }
    const isBareError = event === 'error' && (!isObject(json) || (!json.error && json.type !== 'error'));
    // Multi-line data contains line breaks, which must not be relayed in a single line.
    const raw = data.includes('\n') ? JSON.stringify(json) : data;
    this.#takeObject(isBareError ? { error: json } : json, raw, batch);
    if (!this.isComplete) this.#keepShape(event, data, batch);
  }

  /** Null for nothing, and for signs of life, whose data may be no JSON; some servers pass on comments as data. */
  #parse(event: string, data: string): unknown {
    if (isTooDeep(data))
      throw new UpstreamFailure('broken', `${this.#name} sent an event that is nested too deeply`);
    try {
      return JSON.parse(data);
    } catch {
      if (lifeSigns.has(event) || data.startsWith(':')) return null;
      if (event === 'error') return data;
      throw new UpstreamFailure('broken', `${this.#name} sent an event that is not JSON`);
    }
  }

  #takeObject(json: unknown, raw: string, batch: Batch): void {
    if (!isObject(json))
      throw new UpstreamFailure('broken', `${this.#name} sent an event that is not an object`);
    this.#dialect.take(json, raw, batch);
    if (this.#dialect.isComplete) this.isComplete = true;
  }

  #takeAlike(shape: EventShape, event: string, data: string, { events, frames }: Batch): boolean {
    if (event !== this.#shapeName) return false;
    const text = shape.textIn(data);
    if (!text || !this.#dialect.addText?.(text, events)) return false;
    if (frames !== undefined && shape.frame !== undefined) frames.push(new AlikeFrame(data, shape.frame));
    this.#shapesTried = 0;
    return true;
  }

  #keepShape(event: string, data: string, { frames }: Batch): void {
    const { addedText } = this.#dialect;
    if (addedText === undefined || this.#shapesTried >= shapesTriedMax) return;
    const frame = frames?.at(-1);
    if (frame !== undefined && frame.raw !== data) return;
    this.#shapesTried += 1;
    this.#shape = EventShape.of(data, addedText, frame);
    this.#shapeName = event;
  }

  #finish(batch: Batch, at: 'done-mark' | 'last-byte'): void {
    this.#dialect.finish(batch, at);
    this.isComplete = true;
  }

  #emptyBatch(): Batch {
    return { events: [], frames: this.#hasFrames ? [] : undefined };
  }
}

const lifeSigns: ReadonlySet<string> = new Set(['ping', 'heartbeat', 'keepalive', 'keep-alive']);

/** Some servers add white space. */
function isDoneMark(data: string): boolean {
  return data === '[DONE]' || (data.length < 16 && data.trim() === '[DONE]');
}

function isWholeJson(data: string): boolean {
  if (isDoneMark(data)) return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
