import { pictureItem } from '../../../../shared/formats/pictures.ts';
import { listOf } from '../../../../shared/json/json-object.ts';
import type { MediaTokens, Tokens } from '../../../../shared/money/money.ts';
import type { Batch, InferenceEvent, StartedItem } from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import type { Decoder } from '../../adapter.ts';
import { areCounts, countOf, type Json, objectOf, textOf } from '../../json.ts';
import { type Dialect, SseJsonDecoder } from '../../sse-decoder.ts';
import { billedIn } from '../billed.ts';
import { argumentsIn, unreadableArguments } from '../call-arguments.ts';
import { CallIds, toolNameIn } from '../call-ids.ts';
import { type Ended, endedWith } from '../finish-reasons.ts';
import { unnamedCall } from '../provider-failures.ts';
import { SentText } from '../sent-text.ts';
import { servedModelIn } from '../served-model.ts';
import type { Signatures } from './contents.ts';
import { errorIn, googleStreamFailure } from './failure.ts';

interface DecoderContext {
  provider: string;
  model: string;
  /** Returns a unique id: some models send calls without one. */
  makeCallId: () => string;
  /** The caller's names of renamed functions. */
  names: ReadonlyMap<string, string>;
  /** The calls that the caller accepts; the format cannot limit them. */
  callsMax?: number | undefined;
}

/** Decodes a streamGenerateContent stream, in which each event is a part of the answer. */
export function generateDecoder(context: DecoderContext): Decoder {
  return new SseJsonDecoder(context.provider, new GenerateDialect(context), { hasFrames: false });
}

class GenerateDialect implements Dialect {
  /** An answer is complete only at the end of the stream. */
  readonly isComplete = false;
  readonly #context: DecoderContext;
  #served: unknown;
  #items = 0;
  #calls = 0;
  readonly #text = new SentText();
  #open: { kind: 'message' | 'reasoning'; index: number } | undefined;
  /** The signature of the open message's text. */
  #textSignature: string | undefined;
  readonly #callIds: CallIds;
  #hasContent = false;
  #isBlocked = false;
  /** Those of the current event's text. */
  #logprobs: Json[] = [];
  /** Old models send STOP with every event: only the last one counts. */
  #finishReason: string | undefined;
  /** Whether content came after a finish reason, so that none is known to be the last. */
  #hasLateContent = false;

  constructor(context: DecoderContext) {
    this.#context = context;
    this.#callIds = new CallIds({ form: /^[\w.-]{1,64}$/, makeId: context.makeCallId });
  }

  get hasFinished(): boolean {
    return (this.#finishReason !== undefined || this.#isBlocked) && !this.#hasLateContent;
  }

  take(event: Json, _raw: string, { events }: Batch): void {
    const error = errorIn(event);
    if (error) throw googleStreamFailure(this.#context.provider, error);
    if (textOf(objectOf(event.promptFeedback)?.blockReason)) this.#isBlocked = true;
    const candidate = objectOf(listOf(event.candidates)[0]);
    const { length } = events;
    this.#logprobs = logprobsIn(candidate?.logprobsResult);
    for (const part of listOf(objectOf(candidate?.content)?.parts))
      this.#addPart(objectOf(part) ?? {}, events);
    if (this.#finishReason !== undefined && events.length > length) this.#hasLateContent = true;
    this.#finishReason = textOf(candidate?.finishReason) ?? this.#finishReason;
    this.#countUsage(objectOf(event.usageMetadata), events);
    this.#served ??= event.modelVersion;
  }

  finish({ events }: Batch): void {
    const end = this.#endOrFail();
    this.#closeItem(events);
    events.push({ type: 'finished', ...end, ...servedModelIn(this.#served) });
  }

  #endOrFail(): Ended {
    const reported = this.#finishReason;
    if (reported === undefined) {
      if (this.#isBlocked) return { reason: 'content_filter' };
      throw new UpstreamFailure(
        'broken',
        `${this.#context.provider} closed the stream without a finish reason`,
      );
    }
    return endedWith(reported, { provider: this.#context.provider, isUsable: this.#hasContent });
  }

  #addPart(part: Json, events: InferenceEvent[]): void {
    const signature = textOf(part.thoughtSignature) || undefined;
    const call = objectOf(part.functionCall);
    if (call) this.#addCall(call, signature, events);
    else if (typeof part.text === 'string' && part.thought === true) this.#addThought(part.text, events);
    else if (typeof part.text === 'string') this.#addText(part.text, signature, events);
    else if (part.thought !== true) this.#addPicture(objectOf(part.inlineData), signature, events);
  }

  #addThought(text: string, events: InferenceEvent[]): void {
    if (text === '') return;
    const index = this.#openItem('reasoning', events);
    events.push({ type: 'reasoning', index, part: 0, delta: text });
  }

  #addText(said: string, signature: string | undefined, events: InferenceEvent[]): void {
    // Some models repeat all text with each event.
    const text = this.#text.missingOfPiece(said) ?? said;
    if (text !== '') {
      this.#text.add(text);
      const index = this.#openItem('message', events);
      const logprobs = this.#logprobs;
      this.#logprobs = [];
      events.push({ type: 'text', index, delta: text, ...(logprobs.length > 0 && { logprobs }) });
      this.#hasContent = true;
    }
    // Often the signature comes last, on a part with empty text.
    if (this.#open?.kind === 'message') this.#textSignature = signature ?? this.#textSignature;
  }

  /** A call is sent whole. Its signature is stored in the preceding reasoning item, created if necessary. */
  #addCall(call: Json, signature: string | undefined, events: InferenceEvent[]): void {
    this.#calls += 1;
    if (this.#calls > (this.#context.callsMax ?? Number.POSITIVE_INFINITY)) return;
    const reported = toolNameIn(call.name);
    if (reported === '') throw unnamedCall(this.#context.provider);
    const name = this.#context.names.get(reported) ?? reported;
    const args = argumentsIn(call.args);
    if (args === undefined) throw unreadableArguments(this.#context.provider, reported);
    const callId = this.#callIds.unique(call.id);
    if (signature !== undefined) {
      if (this.#open?.kind !== 'reasoning') this.#openItem('reasoning', events);
      this.#closeItem(events, { calls: { [callId]: signature } });
    } else this.#closeItem(events);
    const index = this.#startItem({ kind: 'function_call', callId, name }, events);
    events.push({ type: 'arguments', index, delta: args });
    events.push({ type: 'item-done', index });
    this.#hasContent = true;
  }

  /** A picture is sent whole; its signature is stored in a reasoning item after it. */
  #addPicture(inline: Json | undefined, signature: string | undefined, events: InferenceEvent[]): void {
    const mimeType = textOf(inline?.mimeType);
    const data = textOf(inline?.data);
    if (!mimeType?.startsWith('image/') || !data) return;
    this.#closeItem(events);
    const index = this.#startItem({ kind: 'opaque', json: pictureItem({ mimeType, data }) }, events);
    events.push({ type: 'item-done', index });
    this.#hasContent = true;
    if (signature !== undefined) this.#addSignature({ picture: signature }, events);
  }

  #startItem(item: StartedItem, events: InferenceEvent[]): number {
    const index = this.#items++;
    events.push({ type: 'item-started', index, item });
    return index;
  }

  /** The index of the open item if it has this kind, else of a new one. */
  #openItem(kind: 'message' | 'reasoning', events: InferenceEvent[]): number {
    if (this.#open?.kind === kind) return this.#open.index;
    this.#closeItem(events);
    const index = this.#startItem({ kind }, events);
    this.#open = { kind, index };
    return index;
  }

  #closeItem(events: InferenceEvent[], signatures?: Signatures): void {
    const open = this.#open;
    const text = this.#textSignature;
    this.#open = undefined;
    this.#textSignature = undefined;
    if (!open) return;
    events.push({ type: 'item-done', index: open.index, ...(signatures && this.#originOf(signatures)) });
    if (text !== undefined) this.#addSignature({ text }, events);
  }

  #addSignature(signatures: Signatures, events: InferenceEvent[]): void {
    const index = this.#startItem({ kind: 'reasoning' }, events);
    events.push({ type: 'item-done', index, ...this.#originOf(signatures) });
  }

  #originOf(payload: Signatures) {
    const { provider, model } = this.#context;
    return { origin: { provider, model, payload } };
  }

  #countUsage(usage: Json | undefined, events: InferenceEvent[]): void {
    if (countOf(usage?.promptTokenCount) === undefined || !usage) return;
    if (!areCounts(usage.promptTokenCount, usage.candidatesTokenCount)) return;
    // Earlier events may omit the output count, which does not mean 0.
    const isComplete = usage.candidatesTokenCount !== undefined || this.#finishReason !== undefined;
    if (isComplete || this.#isBlocked)
      events.push({ type: 'usage', tokens: tokensOf(usage), ...billedIn(usage) });
    else if (events.length > 0) events.push({ type: 'prompt-counted', tokens: promptOf(usage) });
  }
}

/** Log probabilities in the shape of OpenAI's formats, one per token. Source: the Gemini API reference, "LogprobsResult". */
function logprobsIn(result: unknown): Json[] {
  const { chosenCandidates, topCandidates } = objectOf(result) ?? {};
  const top = listOf(topCandidates);
  return listOf(chosenCandidates).flatMap((chosen, at) => {
    const token = tokenLogprob(chosen);
    if (token === undefined) return [];
    const candidates = listOf(objectOf(top[at])?.candidates).flatMap((each) => tokenLogprob(each) ?? []);
    return [{ ...token, top_logprobs: candidates }];
  });
}

function tokenLogprob(candidate: unknown): Json | undefined {
  const { token, logProbability } = objectOf(candidate) ?? {};
  if (typeof token !== 'string' || typeof logProbability !== 'number') return undefined;
  return { token, logprob: logProbability, bytes: [...Buffer.from(token)] };
}

/** `promptTokenCount` includes cached tokens; thoughts and the input of server tools are counted separately. */
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
  const prompt = promptOf(usage);
  const candidates = countOf(usage.candidatesTokenCount) ?? 0;
  const remaining = (countOf(usage.totalTokenCount) ?? 0) - prompt.input;
  // Some answers count the thoughts among the candidates.
  const output = candidates > 0 && remaining === candidates ? candidates : candidates + reasoning;
  return {
    ...prompt,
    // Some answers have a total, but no count of the output or of the thoughts.
    output: Math.max(output, reasoning, remaining),
    reasoning,
    ...(hasMedia && { media }),
  };
}

/** Sums the tokens of one modality. */
function countIn(details: unknown, modality: string): number {
  let sum = 0;
  for (const each of listOf(details)) {
    const detail = objectOf(each);
    if (detail?.modality === modality) sum += countOf(detail.tokenCount) ?? 0;
  }
  return sum;
}
