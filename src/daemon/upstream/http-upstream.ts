import { loopTurns } from '../../shared/async/loop-turns.ts';
import { listOf } from '../../shared/json/json-object.ts';
import { withoutHalfCharacters } from '../../shared/json/json-text.ts';
import { KnownSecrets } from '../../shared/masking/known-secrets.ts';
import { secretsOfServers } from '../../shared/masking/mask-json.ts';
import { maskText } from '../../shared/masking/mask-text.ts';
import type { IncomingAnswer, IncomingBody, OutgoingRequest, World } from '../base/world.ts';
import type { Batch, Inference } from '../features/upstreams/neutral.ts';
import {
  type AttemptCapture,
  type AttemptsCapture,
  type JsonAnswer,
  type StreamAnswer,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamFailureDetails,
} from '../features/upstreams/upstream.ts';
import { whenLate } from '../runtime/when-late.ts';
import type { Adapter, ProviderRequest } from './adapter.ts';
import { AnswerBatches } from './answer-batches.ts';
import { parseObject } from './json.ts';
import { maskFailure, secretsSent } from './mask-failure.ts';
import { upstreamFailureOf } from './network-failures.ts';
import { withHeaders } from './providers/billed.ts';
import { servedModelIn } from './providers/served-model.ts';
import { rateLimitsIn } from './rate-limits.ts';
import { errorStatusIn, readText } from './response-body.ts';

/** Time limits in milliseconds. */
export interface UpstreamTimeouts {
  /** For the headers of an answer that is not streamed. */
  headersMs: number;
  /** For the headers of a stream, and again from the headers to the first bytes. */
  firstEventMs: number;
  /** Between two reads of an answer's body. */
  idleMs: number;
  /** Without new output, whatever else the provider sends. A document is one piece of output. */
  outputMs: number;
  /** For the whole call, earlier attempts included. */
  totalMs: number;
  /** From the finish reason to the end of the stream: usage may come in between, and late. */
  closingMs: number;
}

export interface HttpUpstreamOptions {
  name: string;
  adapter: Adapter;
  send: World['send'];
  timeouts: UpstreamTimeouts;
}

export const answerBytesMax = 32 * 1024 * 1024;
const errorBytesMax = 64 * 1024;
const errorBodyMs = 10_000;

/** Calls a provider over HTTP, with everything that is the same for all providers; the rest is in its adapter. */
export function httpUpstream(options: HttpUpstreamOptions): Upstream {
  const { adapter } = options;
  return {
    name: options.name,
    open: (call, signal) => open(options, call, signal),
    ...(adapter.countRequest && { countInput: (call, signal) => countInput(options, call, signal) }),
  };
}

async function open(
  options: HttpUpstreamOptions,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const { name, adapter } = options;
  const isWhole = adapter.wholeAnswer?.(call) ?? false;
  let secrets = () => secretsOfServers(call.inference.body);
  try {
    const { dropped = [], ...request } = adapter.request(call);
    secrets = secretsSent(request);
    const sent = call.capture?.sent(name, request);
    const answer = await dial(options, request, { isWhole, signal, spentMs: call.spentMs });
    sent?.received(answer);
    if (answer.status >= 400) throw await refusal(adapter, answer, { sent, secrets });
    const type = acceptedType(name, answer);
    // A provider may stream although a document was requested, which works as well: the caller drains streams.
    const isDocument = isWhole && !type.startsWith('text/event-stream');
    const read = isDocument
      ? readDocument
      : type.startsWith('application/json')
        ? documentForStream
        : readStream;
    const received = await read(options, call, answer, { sent, secrets });
    if (received.kind === 'json') maskFailure(received.failure, secrets);
    return { ...received, ...rateLimitsIn(answer.headers), ...(dropped.length > 0 && { dropped }) };
  } catch (error) {
    const failure = maskFailure(upstreamFailureOf(error, name), secrets);
    throw rewritable(failure, (inference) => adapter.request({ ...call, inference }));
  }
}

/** Adds how the request is written, so that the caller's fields can be found in it. */
function rewritable(
  failure: unknown,
  request: (inference: Inference) => Pick<ProviderRequest, 'body'> | undefined,
): unknown {
  if (failure instanceof UpstreamFailure && failure.kind === 'caller')
    failure.details.write = (inference) => parseObject(request(inference)?.body ?? '');
  return failure;
}

async function countInput(
  options: HttpUpstreamOptions,
  call: Pick<UpstreamCall, 'inference' | 'model' | 'key' | 'subscription'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { adapter } = options;
  const request = adapter.countRequest?.(call);
  if (request === undefined) return undefined;
  try {
    const { json } = await fetchDocument(options, request, { signal, spentMs: 0 });
    return adapter.readCount?.(json);
  } catch (error) {
    throw rewritable(error, (inference) => adapter.countRequest?.({ ...call, inference }));
  }
}

interface Asking {
  /** Whether the answer is one document. */
  isWhole: boolean;
  signal: AbortSignal;
  /** How long earlier attempts took, in milliseconds. */
  spentMs: number | undefined;
  capture?: AttemptsCapture | undefined;
}

/** The content type of a successful answer, in lower case. Throws an UpstreamFailure for redirects and web pages. */
function acceptedType(name: string, { status, headers, body }: IncomingAnswer): string {
  const type = headers['content-type']?.toLowerCase() ?? '';
  if (status < 200 || status >= 300 || type.startsWith('text/html')) {
    body.cancel();
    const to = status < 400 ? placeOf(headers.location) : undefined;
    const what = status === 200 ? 'a web page' : `status ${status}`;
    const details: UpstreamFailureDetails = { status };
    if (to) details.publicMessage = `it redirects to ${to}; use that as its base_url`;
    else if (status >= 300) details.publicMessage = 'it redirects; check its base_url';
    else if (status === 200) details.publicMessage = 'it answered with a web page; check its base_url';
    throw new UpstreamFailure('server', `${name} answered with ${what}`, details);
  }
  return type;
}

/** The host that a redirect names, without anything that may be secret. */
export function placeOf(location: string | undefined): string | undefined {
  if (location === undefined || !URL.canParse(location)) return undefined;
  const { protocol, origin } = new URL(location);
  return /^https?:$/.test(protocol) ? origin : undefined;
}

/** The parts of a request whose answer is one document. */
export type DocumentOptions = Pick<HttpUpstreamOptions, 'name' | 'send' | 'timeouts'> & {
  adapter: Pick<Adapter, 'failure'>;
};

/** Sends a request that is answered by one JSON object. Rejects with an UpstreamFailure. */
export async function fetchDocument(
  options: DocumentOptions,
  request: ProviderRequest,
  asking: Omit<Asking, 'isWhole'>,
): Promise<{ json: Record<string, unknown>; headers: IncomingAnswer['headers'] }> {
  const { name } = options;
  const secrets = secretsSent(request);
  try {
    const sent = asking.capture?.sent(name, request);
    const answer = await dial(options, request, { ...asking, isWhole: true });
    sent?.received(answer);
    if (answer.status >= 400) throw await refusal(options.adapter, answer, { sent, secrets });
    acceptedType(name, answer);
    const { json } = documentIn(options, answer, await answer.body.bytes(answerBytesMax), { sent, secrets });
    if (json) return { json, headers: answer.headers };
    throw new UpstreamFailure('broken', `${name} answered with something that is not a JSON object`);
  } catch (error) {
    throw maskFailure(upstreamFailureOf(error, name), secrets);
  }
}

/** What is known of a request while its answer is read. */
interface SentRequest {
  sent: AttemptCapture | undefined;
  secrets: () => KnownSecrets;
}

function dial(
  { name, send, timeouts }: DocumentOptions,
  { url, headers, body }: ProviderRequest,
  { isWhole, signal, spentMs = 0 }: Asking,
): Promise<IncomingAnswer> {
  const request: OutgoingRequest = {
    method: 'POST',
    url,
    headers,
    body: withoutHalfCharacters(body),
    signal,
    provider: name,
    headersTimeoutMs: isWhole ? timeouts.headersMs : timeouts.firstEventMs,
    idleTimeoutMs: timeouts.idleMs,
    bodyTimeoutMs: timeouts.outputMs,
    totalTimeoutMs: Math.max(1, timeouts.totalMs - spentMs),
    ...(isWhole ? undefined : { firstReadTimeoutMs: timeouts.firstEventMs }),
  };
  // Writing the bytes of a long text takes as long as making it.
  const turn = loopTurns.next(body.length);
  return turn === undefined ? send(request) : turn.then(() => send(request));
}

async function refusal(
  adapter: Pick<Adapter, 'failure'>,
  answer: IncomingAnswer,
  { sent, secrets }: SentRequest,
): Promise<UpstreamFailure> {
  // What has arrived by then is enough.
  const stopWaiting = whenLate(errorBodyMs, () => answer.body.cancel());
  const body = await readText(answer.body, errorBytesMax).finally(stopWaiting);
  sent?.refused(body);
  if (answer.status === 400 && wantsTls(body))
    return new UpstreamFailure('server', 'plain HTTP was sent to a port for TLS', {
      status: 400,
      publicMessage: 'it expects TLS: write https:// in its address',
    });
  const failure = adapter.failure(answer.status, answer.headers, maskText(body, { known: secrets() }));
  Object.assign(failure.details, rateLimitsIn(answer.headers));
  return failure;
}

/** A server says so before it reads the request, which is not at fault. Source: nginx, and Go's. */
function wantsTls(body: string): boolean {
  return /\bHTTP request (was sent )?to (an )?HTTPS (port|server)/.test(body.slice(0, 256));
}

async function readDocument(
  options: HttpUpstreamOptions,
  call: UpstreamCall,
  answer: IncomingAnswer,
  request: SentRequest,
): Promise<UpstreamAnswer> {
  const { name, adapter } = options;
  const document = documentIn(options, answer, await answer.body.bytes(answerBytesMax), request);
  const { json } = document;
  if (json === undefined) return streamIn(options, call, document);
  if (adapter.readAnswer === undefined) {
    throw new UpstreamFailure('broken', `${name} answered with a document that cannot be read`);
  }
  const { tokens, finish, providerReason, failure, ...inBody } = adapter.readAnswer(json, call);
  const billed = withHeaders(inBody.billed, answer.headers);
  const read: JsonAnswer = {
    kind: 'json',
    wire: call.inference.wire,
    json,
    tokens,
    ...(billed && { billed }),
    finish,
    ...(providerReason !== undefined && { providerReason }),
    ...servedModelIn(json.model),
    ...(failure && { failure }),
  };
  // Nothing was generated, so another provider can still answer.
  if (failure && !tokens?.output && listOf(json.output).length === 0) {
    request.sent?.refused(document.text.slice(0, errorBytesMax));
    const { kind, message, details } = failure;
    throw new UpstreamFailure(kind, message, { ...details, status: answer.status, answer: read });
  }
  return read;
}

/** Handles a document in place of a stream: an error with status 200, or the answer of a server that cannot stream. */
async function documentForStream(
  options: HttpUpstreamOptions,
  call: UpstreamCall,
  answer: IncomingAnswer,
  request: SentRequest,
): Promise<StreamAnswer> {
  const { name, adapter, timeouts } = options;
  const start = await firstBytes(name, answer.body, timeouts.outputMs);
  if (startsEventStream(start))
    return readStream(options, call, { ...answer, body: resumed(answer.body, start) }, request);
  const bytes = Buffer.concat([start, await answer.body.bytes(answerBytesMax)]);
  const document = documentIn(options, answer, bytes, request);
  if (document.json === undefined || adapter.documentAsBatch === undefined)
    return streamIn(options, call, document);
  return { kind: 'stream', batches: each([adapter.documentAsBatch(document.json, call)]) };
}

/** The bytes up to the first that are no white space. Throws an UpstreamFailure if there is nothing else for so long. */
async function firstBytes(name: string, body: IncomingBody, withinMs: number): Promise<Uint8Array> {
  let isLate = false;
  const stopWaiting = whenLate(withinMs, () => {
    isLate = true;
    body.cancel();
  });
  try {
    const bytes = await readStart(body);
    if (isLate) throw new UpstreamFailure('timeout', `${name} sent nothing but white space`);
    return bytes;
  } finally {
    stopWaiting();
  }
}

async function readStart(body: IncomingBody): Promise<Uint8Array> {
  const reader = body[Symbol.asyncIterator]();
  let bytes: Uint8Array = new Uint8Array(0);
  while (bytes.length < startBytesMin || (isBlank(bytes) && bytes.length <= blankBytesMax)) {
    const read = await reader.next();
    if (read.done) break;
    bytes = bytes.length === 0 ? read.value : Buffer.concat([bytes, read.value]);
    // A document needs no more to be told from a stream.
    if (!isBlank(bytes) && isBareJson.test(textOf(bytes))) break;
  }
  return bytes;
}

/** The longest name of a field of an event with its colon. */
const startBytesMin = 'event:'.length;
const blankBytesMax = 64 * 1024;

function isBlank(bytes: Uint8Array): boolean {
  return textOf(bytes).trim() === '';
}

function startsEventStream(bytes: Uint8Array): boolean {
  return isEventStream.test(textOf(withoutMark(bytes)));
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** A body that starts with bytes that were read from it. */
function resumed(body: IncomingBody, start: Uint8Array): IncomingBody {
  const reader = body[Symbol.asyncIterator]();
  let first: Uint8Array | undefined = start;
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        const value = first;
        first = undefined;
        return value === undefined ? reader.next() : Promise.resolve({ done: false, value });
      },
    }),
    bytes: (bytesMax) => body.bytes(bytesMax),
    cancel: () => body.cancel(),
  };
}

async function* each(batches: readonly Batch[]): AsyncGenerator<Batch> {
  yield* batches;
}

const isEventStream = /^\s*(data|event|id|retry)?:/;
const isBareJson = /^\s*[[{]/;

interface ReadDocument {
  bytes: Uint8Array;
  text: string;
  /** Undefined if the text is not a JSON object. */
  json: Record<string, unknown> | undefined;
}

/** Parses a document. Throws an UpstreamFailure if it is an error that was sent with a successful status. */
function documentIn(
  { adapter }: DocumentOptions,
  { headers }: IncomingAnswer,
  received: Uint8Array,
  { sent, secrets }: SentRequest,
): ReadDocument {
  sent?.read?.(received);
  const bytes = withoutMark(received);
  const text = textOf(bytes);
  const json = parseObject(text);
  const status = json && errorStatusIn(json);
  const isUsable = json === undefined ? isEventStream.test(text) : status === undefined;
  if (!isUsable) sent?.refused(text.slice(0, errorBytesMax));
  if (status !== undefined) {
    const error = maskText(text.slice(0, errorBytesMax), { known: secrets() });
    throw adapter.failure(status, headers, error);
  }
  return { bytes, text, json };
}

/** Decodes a stream with the content type of a document, as some servers send it, or a document of events. */
function streamIn(
  { name, adapter }: HttpUpstreamOptions,
  call: UpstreamCall,
  { bytes, text }: ReadDocument,
): StreamAnswer {
  if (!isEventStream.test(text) && !isBareJson.test(text)) {
    throw new UpstreamFailure(
      'broken',
      `${name} answered with something that is not a JSON object, or is nested too deeply`,
    );
  }
  const decoder = adapter.decoder(call);
  const batches = [decoder.push(bytes)];
  if (decoder.failure !== undefined) throw decoder.failure;
  if (!decoder.isComplete) batches.push(decoder.end());
  return { kind: 'stream', batches: each(batches) };
}

/** Removes the byte order mark that some servers put before their JSON. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}

/** The secrets that an error in a stream may repeat; what else is one is recognized by its form. */
function secretsLater({ key, inference: { body } }: UpstreamCall): () => KnownSecrets {
  const { tools, mcp_servers } = body;
  return () => new KnownSecrets([key, ...secretsOfServers({ tools, mcp_servers }).values]);
}

/** Waits for the first batch with content; the returned answer starts with it. */
async function readStream(
  { name, adapter, timeouts }: HttpUpstreamOptions,
  call: UpstreamCall,
  answer: IncomingAnswer,
  { sent }: SentRequest,
): Promise<StreamAnswer> {
  const batches = new AnswerBatches({
    name,
    body: answer.body,
    decoder: adapter.decoder(call),
    onRead: sent?.read,
    // Not those of the whole request, which would be kept for as long as the stream takes.
    secrets: secretsLater(call),
    closingTimeoutMs: timeouts.closingMs,
    outputTimeoutMs: timeouts.outputMs,
  });
  try {
    const first = await batches.next();
    if (first.done) throw new UpstreamFailure('broken', `${name} answered with an empty stream`);
    batches.pushBack(first.value);
    // Nothing has been sent of a whole answer, so until there is output another provider can still answer.
    if (!call.inference.stream) await batches.readToOutput();
    return { kind: 'stream', batches };
  } catch (error) {
    answer.body.cancel();
    if (!(error instanceof UpstreamFailure)) throw error;
    // The provider may name another status in the stream, but this is the one that it sent.
    const { kind, message, details } = error;
    throw new UpstreamFailure(kind, message, { ...details, status: answer.status });
  }
}
