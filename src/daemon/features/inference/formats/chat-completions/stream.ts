import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { chatPicture } from '../../../../../shared/formats/pictures.ts';
import { sseDone, sseEvent } from '../../../../../shared/http/sse.ts';
import {
  type Output,
  pictureOf,
  type Settled,
  type StartedFailure,
  type StreamRenderer,
} from '../../../calls/index.ts';
import type { Batch, InferenceEvent, RawFrame, ToolName } from '../../../upstreams/neutral.ts';
import { membersBefore } from '../members-before.ts';
import { sealedFormat } from './parse.ts';
import { chatAnnotation, finishReason, passedUsage, showChatCall, showChatUsage, textsIn } from './render.ts';

export interface ChatStreamOptions {
  id: string;
  /** Unix seconds */
  created: number;
  model: string;
  output: Output;
  includeUsage: boolean;
  requestId: string;
}

/** The end of a stream that failed, whether or not its answer had started. */
export function failedChunks({ type, code, message }: StartedFailure, requestId: string): string {
  const error = { type, code, message, param: null, request_id: requestId };
  return sseEvent(JSON.stringify({ error })) + sseDone;
}

/**
 * Renders a stream of chat chunks, and nothing else, as clients validate each line. Every chunk has the same id, time and
 * model; the finish reason is sent once, in a separate chunk.
 */
export class ChatStream implements StreamRenderer {
  readonly #options: ChatStreamOptions;
  readonly #prefix: string;
  readonly #suffix: string;
  /** Index of each function call among the calls of the message, by output index. */
  readonly #calls = new Map<number, number>();
  /** Output indexes of function calls with arguments. */
  readonly #argued = new Set<number>();
  #pictures = 0;
  /** The current paragraph of reasoning, by output index. */
  readonly #paragraphs = new Map<number, number>();
  /** The provider's first chunk, later its usage chunk, when its frames are passed on. */
  #passed: Json | undefined;
  /** What a provider's chunks start with, up to their choices, and the same with our id, time and model. */
  #heads: { theirs: string; ours: string; label: Json } = { theirs: '\n', ours: '', label: {} };
  /** The last frame that kept its bytes behind its head. */
  #passedAs: RawFrame | undefined;
  /** The provider's latest usage. */
  #providerUsage: Json | undefined;
  /** Whether a frame with a finish reason was passed on. */
  #hasPassedFinish = false;
  #started = false;

  constructor(options: ChatStreamOptions) {
    this.#options = options;
    const base = {
      id: options.id,
      object: 'chat.completion.chunk',
      created: options.created,
      model: options.model,
    };
    this.#prefix = JSON.stringify(base).slice(0, -1);
    this.#suffix = options.includeUsage ? ',"usage":null}' : '}';
  }

  head(): string {
    // A provider's own frames include a first chunk; ours is rendered with the first batch.
    return '';
  }

  batch(batch: Batch): string {
    if (batch.frames !== undefined) {
      for (const event of batch.events) this.#options.output.apply(event);
      return this.#pass(batch.frames);
    }
    let text = '';
    for (const event of batch.events) {
      this.#options.output.apply(event);
      text += this.#render(event);
    }
    return text === '' ? '' : this.#start() + text;
  }

  finish(settled: Settled): string {
    if (this.#passed) return this.#passedFinish(settled) + this.#passedUsage(settled) + sseDone;
    const reason = finishReason(this.#options.output, settled.finish);
    const end = this.#start() + this.#sealed() + this.#chunk('{}', JSON.stringify(reason));
    return end + (this.#options.includeUsage ? this.#usage(settled) : '') + sseDone;
  }

  fail(failure: StartedFailure): string {
    return failedChunks(failure, this.#options.requestId);
  }

  #start(): string {
    if (this.#started) return '';
    this.#started = true;
    return this.#chunk('{"role":"assistant","content":""}');
  }

  #chunk(delta: string, finish = 'null', logprobs = ''): string {
    const choice = `{"index":0,"delta":${delta}${logprobs},"finish_reason":${finish}}`;
    return sseEvent(`${this.#prefix},"choices":[${choice}]${this.#suffix}`);
  }

  #render(event: InferenceEvent): string {
    switch (event.type) {
      case 'text': {
        const logprobs = event.logprobs
          ? `,"logprobs":{"content":${JSON.stringify(event.logprobs)},"refusal":null}`
          : '';
        return this.#chunk(`{"content":${JSON.stringify(event.delta)}}`, 'null', logprobs);
      }
      case 'refusal':
        return this.#chunk(`{"refusal":${JSON.stringify(event.delta)}}`);
      case 'annotation': {
        const annotation = chatAnnotation(event.annotation, this.#textBefore(event.index));
        return annotation ? this.#chunk(JSON.stringify({ annotations: [annotation] })) : '';
      }
      case 'reasoning': {
        // This format has no other way to mark a new paragraph of a summary.
        const gap = event.part > 0 && this.#newPart(event.index, event.part) ? '\n\n' : '';
        return this.#chunk(`{"reasoning_content":${JSON.stringify(gap + event.delta)}}`);
      }
      case 'item-started':
        return event.item.kind === 'function_call' ? this.#startCall(event.index, event.item) : '';
      case 'arguments': {
        this.#argued.add(event.index);
        const item = this.#options.output.items[event.index];
        const member =
          item?.kind === 'function_call' && item.custom ? '"custom":{"input"' : '"function":{"arguments"';
        const call = `{"index":${this.#calls.get(event.index) ?? 0},${member}:${JSON.stringify(event.delta)}}}`;
        return this.#chunk(`{"tool_calls":[${call}]}`);
      }
      case 'item-done':
        return this.#endCall(event.index) + this.#picture(event.index);
      default:
        return '';
    }
  }

  /** The length of the text before the part of a message that is being written. */
  #textBefore(index: number): number {
    let length = 0;
    let last = 0;
    for (const item of this.#options.output.items.slice(0, index + 1)) {
      if (item.kind !== 'message') continue;
      for (const part of item.parts) {
        length += last;
        last = part.type === 'output_text' ? part.text.length : 0;
      }
    }
    return length;
  }

  #newPart(index: number, part: number): boolean {
    const known = this.#paragraphs.get(index) ?? 0;
    this.#paragraphs.set(index, part);
    return part > known;
  }

  #startCall(index: number, item: ToolName & { callId: string }): string {
    const position = this.#calls.size;
    this.#calls.set(index, position);
    const call = { index: position, ...showChatCall({ ...item, arguments: '' }) };
    return this.#chunk(JSON.stringify({ tool_calls: [call] }));
  }

  /** A function call without arguments still needs the text of an empty object. */
  #endCall(index: number): string {
    const item = this.#options.output.items[index];
    if (item?.kind !== 'function_call' || item.custom || item.arguments !== '{}' || this.#argued.has(index))
      return '';
    const call = { index: this.#calls.get(index) ?? 0, function: { arguments: '{}' } };
    return this.#chunk(JSON.stringify({ tool_calls: [call] }));
  }

  #picture(index: number): string {
    const picture = pictureOf(this.#options.output.items[index]);
    if (picture === undefined) return '';
    const image = chatPicture(picture, this.#pictures);
    this.#pictures += 1;
    return this.#chunk(JSON.stringify({ images: [image] }));
  }

  /** Sealed reasoning, for clients that send `reasoning_details` back. */
  #sealed(): string {
    const details = this.#options.output.items.flatMap((item, index) =>
      item.kind === 'reasoning' && item.sealed !== undefined
        ? [{ type: 'reasoning.encrypted', data: item.sealed, id: item.id, format: sealedFormat, index }]
        : [],
    );
    return details.length > 0 ? this.#chunk(JSON.stringify({ reasoning_details: details })) : '';
  }

  #usage(settled: Settled): string {
    const usage = JSON.stringify(showChatUsage(settled.tokens, settled.service));
    return sseEvent(`${this.#prefix},"choices":[],"usage":${usage}}`);
  }

  /** Passes on frames of the same format with our id, time and model; usage waits for the last chunk, which carries the cost. */
  #pass(frames: readonly RawFrame[]): string {
    let text = '';
    for (const frame of frames) {
      const { raw, like } = frame;
      if (like !== undefined && like === this.#passedAs) {
        text += sseEvent(this.#heads.ours + raw.slice(this.#heads.theirs.length));
        continue;
      }
      const { json } = frame;
      this.#passed ??= json;
      if (isObject(json.usage)) {
        this.#providerUsage = json.usage;
        if (Array.isArray(json.choices) && json.choices.length === 0) {
          this.#passed = json;
          continue;
        }
      }
      if (Array.isArray(json.choices)) this.#countChoices(json.choices);
      text += sseEvent(isObject(json.usage) ? this.#withoutUsage(json) : this.#labelled(frame));
    }
    return text;
  }

  /** A provider's chunk with our id, time and model. What follows them keeps its bytes. */
  #labelled(frame: RawFrame): string {
    const { raw, json } = frame;
    // Comparing a slice is several times faster than `startsWith`, which reads character by character.
    if (raw.slice(0, this.#heads.theirs.length) !== this.#heads.theirs) {
      const { text = '', members: head = {} } = membersBefore(raw, 'choices') ?? {};
      // Some providers write these members after the choices.
      if (head.id === undefined || head.created === undefined || head.model === undefined)
        return JSON.stringify({ ...json, ...this.#label });
      const ours = `${JSON.stringify({ ...head, ...this.#label }).slice(0, -1)},`;
      this.#heads = { theirs: text, ours, label: head };
    }
    const { ours, theirs, label } = this.#heads;
    const { id, created, model } = json;
    // A member after the choices that repeats one of these would replace it.
    if (id !== label.id || created !== label.created || model !== label.model)
      return JSON.stringify({ ...json, ...this.#label });
    this.#passedAs = frame.like ?? frame;
    return ours + raw.slice(theirs.length);
  }

  get #label(): Json {
    const { id, created, model } = this.#options;
    return { id, created, model };
  }

  /** Some providers report the usage so far with each chunk, and clients would add it up. */
  #withoutUsage(json: Json): string {
    return JSON.stringify({ ...json, ...this.#label, usage: this.#options.includeUsage ? null : undefined });
  }

  /** Counts the text of further choices; events cover the first one only. */
  #countChoices(choices: readonly unknown[]): void {
    for (const choice of choices) {
      if (!isObject(choice)) continue;
      if (choice.finish_reason) this.#hasPassedFinish = true;
      if (!choice.index) continue;
      for (const text of textsIn(choice.delta)) this.#options.output.count(text.length);
    }
  }

  /** An answer that we cut has no finish reason from its provider. */
  #passedFinish(settled: Settled): string {
    if (this.#hasPassedFinish) return '';
    const finish_reason = finishReason(this.#options.output, settled.finish);
    const usage = this.#options.includeUsage ? { usage: null } : {};
    return this.#likePassed({ choices: [{ index: 0, delta: {}, finish_reason }], ...usage });
  }

  #passedUsage(settled: Settled): string {
    if (!this.#options.includeUsage) return '';
    return this.#likePassed({ choices: [], usage: passedUsage(this.#providerUsage, settled) });
  }

  #likePassed(members: Json): string {
    const { service_tier, system_fingerprint } = this.#passed ?? {};
    const base = { ...this.#label, object: 'chat.completion.chunk', service_tier, system_fingerprint };
    return sseEvent(JSON.stringify({ ...base, ...members }));
  }
}
