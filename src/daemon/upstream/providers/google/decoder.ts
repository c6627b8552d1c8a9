import type { MediaTokens, Tokens } from '../../../../shared/money.ts';
import { ownValue } from '../../../../shared/own-value.ts';
import { pictureItem } from '../../../../shared/pictures.ts';
import type {
  Batch,
  FinishReason,
  InferenceEvent,
  StartedItem,
} from '../../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../../features/inference/upstream.ts';
import type { Decoder } from '../../adapter.ts';
import { countOf, type Json, listOf, objectOf, parseObject, textOf } from '../../json.ts';
import { type Dialect, SseJsonDecoder } from '../../sse-decoder.ts';
import { CallIds } from '../call-ids.ts';
import { namelessCall } from '../provider-failures.ts';
import type { Signatures } from './contents.ts';
import { errorIn, streamFailure } from './failure.ts';

export interface DecoderContext {
  provider: string;
  model: string;
  /** An id that no other call has: not every model gives its calls ids. */
  makeCallId: () => string;
  /** The caller's names of functions that were declared under another one. */
  names: ReadonlyMap<string, string>;
}

/** The answers of a streamGenerateContent stream, each a piece of the whole, → neutral events. */
export function generateDecoder(context: DecoderContext): Decoder {
  const dialect = new GenerateDialect(context);
  return errorAtTheEnd(context.provider, new SseJsonDecoder(context.provider, dialect, { hasFrames: false }));
}

class GenerateDialect implements Dialect {
  /** Nothing but the end of the stream tells that an answer is whole. */
  readonly isComplete = false;
  readonly #context: DecoderContext;
  #items = 0;
  #open: { kind: 'message' | 'reasoning'; index: number } | undefined;
  /** The signature of the open message's text. */
  #textSignature: string | undefined;
  readonly #callIds: CallIds;
  #hasContent = false;
  #isBlocked = false;
  /** Old models tell STOP with every piece: only the last one counts. */
  #finishReason: string | undefined;
  /** Whether anything came after a finish reason, so that none is known to be the last. */
  #goesOn = false;

  constructor(context: DecoderContext) {
    this.#context = context;
    this.#callIds = new CallIds({ form: /^[\w.-]{1,64}$/, make: context.makeCallId });
  }

  get hasFinished(): boolean {
    return (this.#finishReason !== undefined || this.#isBlocked) && !this.#goesOn;
  }

  take(event: Json, _raw: string, { events: into }: Batch): void {
    const error = errorIn(event);
    if (error) throw streamFailure(this.#context.provider, error);
    if (textOf(objectOf(event.promptFeedback)?.blockReason)) this.#isBlocked = true;
    const candidate = objectOf(listOf(event.candidates)[0]);
    const { length } = into;
    for (const part of listOf(objectOf(candidate?.content)?.parts)) this.#add(objectOf(part) ?? {}, into);
    if (this.#finishReason !== undefined && into.length > length) this.#goesOn = true;
    this.#finishReason = textOf(candidate?.finishReason) ?? this.#finishReason;
    this.#countUsage(objectOf(event.usageMetadata), into);
  }

  finish({ events: into }: Batch): void {
    const reason = this.#reason();
    this.#close(into);
    into.push({ type: 'finished', reason });
  }

  #reason(): FinishReason {
    const told = this.#finishReason;
    if (told === undefined) {
      if (this.#isBlocked) return 'content_filter';
      throw new UpstreamFailure(
        'broken',
        `${this.#context.provider} closed the stream without a finish reason`,
      );
    }
    const reason = ownValue(reasons, told);
    if (reason !== undefined) return reason;
    // What was to be a call came to nothing: text around it is no answer.
    if (this.#hasContent && !/CALL|SIGNATURE|MALFORMED/.test(told)) return 'stop';
    const name = /^[A-Z_]{1,40}$/.test(told) ? told : 'an unknown reason';
    throw new UpstreamFailure('server', `${this.#context.provider} gave no answer: ${name}`);
  }

  #add(part: Json, into: InferenceEvent[]): void {
    const signature = textOf(part.thoughtSignature) || undefined;
    const call = objectOf(part.functionCall);
    if (call) this.#addCall(call, signature, into);
    else if (typeof part.text === 'string' && part.thought === true) this.#addThought(part.text, into);
    else if (typeof part.text === 'string') this.#addText(part.text, signature, into);
    else if (part.thought !== true) this.#addPicture(objectOf(part.inlineData), signature, into);
  }

  #addThought(text: string, into: InferenceEvent[]): void {
    if (text === '') return;
    const index = this.#continue('reasoning', into);
    into.push({ type: 'reasoning', index, part: 0, delta: text });
  }

  #addText(text: string, signature: string | undefined, into: InferenceEvent[]): void {
    if (text !== '') {
      const index = this.#continue('message', into);
      into.push({ type: 'text', index, delta: text });
      this.#hasContent = true;
    }
    // Often the signature comes last, on a part with empty text.
    if (this.#open?.kind === 'message') this.#textSignature = signature ?? this.#textSignature;
  }

  /** A call comes whole. Its signature goes into the reasoning item before it, which is made if there is none. */
  #addCall(call: Json, signature: string | undefined, into: InferenceEvent[]): void {
    const told = textOf(call.name);
    if (!told) throw namelessCall(this.#context.provider, { of: 'function' });
    const name = this.#context.names.get(told) ?? told;
    const callId = this.#callIds.own(call.id);
    if (signature !== undefined) {
      if (this.#open?.kind !== 'reasoning') this.#continue('reasoning', into);
      this.#close(into, { calls: { [callId]: signature } });
    } else this.#close(into);
    const index = this.#begin({ kind: 'function_call', callId, name }, into);
    into.push({ type: 'arguments', index, delta: JSON.stringify(objectOf(call.args) ?? {}) });
    into.push({ type: 'item-done', index });
    this.#hasContent = true;
  }

  /** A picture comes whole; its signature goes into a reasoning item after it. */
  #addPicture(inline: Json | undefined, signature: string | undefined, into: InferenceEvent[]): void {
    const mimeType = textOf(inline?.mimeType);
    const data = textOf(inline?.data);
    if (!mimeType?.startsWith('image/') || !data) return;
    this.#close(into);
    const index = this.#begin({ kind: 'opaque', json: pictureItem({ mimeType, data }) }, into);
    into.push({ type: 'item-done', index });
    this.#hasContent = true;
    if (signature !== undefined) this.#sign({ picture: signature }, into);
  }

  #begin(item: StartedItem, into: InferenceEvent[]): number {
    const index = this.#items++;
    into.push({ type: 'item-started', index, item });
    return index;
  }

  /** The open item if it is of that kind; else a new one, after closing what is open. */
  #continue(kind: 'message' | 'reasoning', into: InferenceEvent[]): number {
    if (this.#open?.kind === kind) return this.#open.index;
    this.#close(into);
    const index = this.#begin({ kind }, into);
    this.#open = { kind, index };
    return index;
  }

  #close(into: InferenceEvent[], signatures?: Signatures): void {
    const open = this.#open;
    const text = this.#textSignature;
    this.#open = undefined;
    this.#textSignature = undefined;
    if (!open) return;
    into.push({ type: 'item-done', index: open.index, ...(signatures && this.#originOf(signatures)) });
    if (text !== undefined) this.#sign({ text }, into);
  }

  #sign(signatures: Signatures, into: InferenceEvent[]): void {
    const index = this.#begin({ kind: 'reasoning' }, into);
    into.push({ type: 'item-done', index, ...this.#originOf(signatures) });
  }

  #originOf(payload: Signatures) {
    const { provider, model } = this.#context;
    return { origin: { provider, model, payload } };
  }

  #countUsage(usage: Json | undefined, into: InferenceEvent[]): void {
    if (countOf(usage?.promptTokenCount) === undefined || !usage) return;
    // Pieces before the last may leave out what was written: that is not a count of nothing.
    const isTold = usage.candidatesTokenCount !== undefined || this.#finishReason !== undefined;
    if (isTold || this.#isBlocked) into.push({ type: 'usage', tokens: tokensOf(usage) });
    else if (into.length > 0) into.push({ type: 'prompt-counted', tokens: promptOf(usage) });
  }
}

/** `promptTokenCount` holds cached tokens; thoughts and what the provider's tools read are counted apart. */
function promptOf(usage: Json): Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'> {
  const input = (countOf(usage.promptTokenCount) ?? 0) + (countOf(usage.toolUsePromptTokenCount) ?? 0);
  return { input, cachedInput: Math.min(input, countOf(usage.cachedContentTokenCount) ?? 0), cacheWrite: 0 };
}

function tokensOf(usage: Json): Tokens {
  const reasoning = countOf(usage.thoughtsTokenCount) ?? 0;
  const media: MediaTokens = {
    audioInput: countIn(usage.promptTokensDetails, 'AUDIO'),
    cachedAudio: countIn(usage.cacheTokensDetails, 'AUDIO'),
    audioOutput: countIn(usage.candidatesTokensDetails, 'AUDIO'),
    imageOutput: countIn(usage.candidatesTokensDetails, 'IMAGE'),
  };
  const hasMedia = media.audioInput + media.audioOutput + media.imageOutput > 0;
  return {
    ...promptOf(usage),
    output: (countOf(usage.candidatesTokenCount) ?? restOf(usage)) + reasoning,
    reasoning,
    ...(hasMedia && { media }),
  };
}

/** What the total holds beside all that is told: some answers leave out the count of what was written, not the total. */
function restOf(usage: Json): number {
  const told = promptOf(usage).input + (countOf(usage.thoughtsTokenCount) ?? 0);
  return Math.max(0, (countOf(usage.totalTokenCount) ?? 0) - told);
}

/** The tokens of one modality in a list of all. */
function countIn(details: unknown, modality: string): number {
  let sum = 0;
  for (const each of listOf(details)) {
    const detail = objectOf(each);
    if (detail?.modality === modality) sum += countOf(detail.tokenCount) ?? 0;
  }
  return sum;
}

const reasons: Record<string, FinishReason> = {
  STOP: 'stop',
  MAX_TOKENS: 'max_output_tokens',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
};

const tailBytes = 16 * 1024;

/**
 * An overloaded provider may break a stream off with its error as plain JSON, which is no event. Where a stream turns
 * out to be cut, the error at its end tells the better reason.
 */
export function errorAtTheEnd(provider: string, decoder: Decoder): Decoder {
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    get isComplete() {
      return decoder.isComplete ?? false;
    },
    get hasFinished() {
      return decoder.hasFinished ?? false;
    },
    get failure() {
      return decoder.failure;
    },
    push(bytes) {
      chunks.push(bytes);
      length += bytes.length;
      for (let first = chunks[0]; first && length - first.length >= tailBytes; first = chunks[0]) {
        length -= first.length;
        chunks.shift();
      }
      return decoder.push(bytes);
    },
    end() {
      try {
        return decoder.end();
      } catch (cut) {
        const tail = Buffer.concat(chunks).toString('utf8').replaceAll('\r\n', '\n');
        chunks = [];
        const error = errorIn(parseObject(tail.slice(tail.lastIndexOf('\n\n') + 1)));
        throw error ? streamFailure(provider, error) : cut;
      }
    },
  };
}
