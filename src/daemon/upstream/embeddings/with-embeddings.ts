import { RecentMap } from '../../../shared/recent-map.ts';
import type { EmbeddingInput } from '../../features/upstreams/neutral.ts';
import {
  type EmbeddingAnswer,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
  type Vector,
} from '../../features/upstreams/upstream.ts';
import type { EmbeddingsAdapter } from '../adapter.ts';
import { type DocumentOptions, fetchDocument } from '../http-upstream.ts';
import type { Json } from '../json.ts';
import { rateLimitsIn } from '../rate-limits.ts';
import { fewerInputs, refusesLength } from './refusals.ts';

export interface EmbeddingsOptions extends Omit<DocumentOptions, 'adapter'> {
  /** Undefined for a provider without embeddings. */
  adapter: EmbeddingsAdapter | undefined;
}

/** Requests of one call that run at the same time. */
const requestsAtOnce = 4;

/** Inputs of a call that fit one request, and the position of the first. */
interface InputBatch {
  start: number;
  inputs: readonly EmbeddingInput[];
}

/** Of so many models, it is kept how many inputs their providers take. */
const modelsMax = 100;

/** Adds a provider's embeddings to its other calls. */
export function withEmbeddings(upstream: Upstream, options: EmbeddingsOptions): Upstream {
  const inputsMax = new RecentMap<string, number>(modelsMax);
  return {
    ...upstream,
    open: (call, signal) =>
      call.inference.embedding
        ? embed(options, {
            call,
            inputs: call.inference.embedding.inputs,
            signal,
            startedAt: performance.now(),
            inputsMax,
          })
        : upstream.open(call, signal),
  };
}

interface Asked {
  call: UpstreamCall;
  inputs: readonly EmbeddingInput[];
  signal: AbortSignal;
  /** Milliseconds of `performance.now()`. */
  startedAt: number;
}

/** Sends the inputs in as many requests as the provider needs, which are smaller where it refuses some as too large. */
async function embed(
  { adapter, ...options }: EmbeddingsOptions,
  { inputsMax: known, ...asked }: Asked & { inputsMax: Map<string, number> },
): Promise<UpstreamAnswer> {
  if (!adapter)
    throw new UpstreamFailure('unknown-model', `${options.name} has no embeddings`, { status: 404 });
  const { call, signal } = asked;
  let inputsMax = Math.min(adapter.inputsMax, known.get(call.model) ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const batches = inBatches(asked.inputs, { ...adapter, inputsMax });
    try {
      return await embedOfAnyLength({ ...options, adapter }, asked, batches);
    } catch (error) {
      const fewer = fewerInputs(error, Math.max(...batches.map(({ inputs }) => inputs.length)));
      if (fewer === undefined || signal.aborted) throw error;
      inputsMax = fewer.inputsMax;
      if (fewer.isBound) known.set(call.model, inputsMax);
    }
  }
}

type KnownOptions = Omit<EmbeddingsOptions, 'adapter'> & { adapter: EmbeddingsAdapter };

/** Asks a provider that refuses to be told a length again without one, as its vectors may have it. */
async function embedOfAnyLength(
  options: KnownOptions,
  asked: Asked,
  batches: readonly InputBatch[],
): Promise<UpstreamAnswer> {
  try {
    return await embedBatches(options, asked, batches);
  } catch (error) {
    const { inference } = asked.call;
    const length = inference.embedding?.dimensions;
    if (length === undefined || !refusesLength(error)) throw error;
    const { dimensions: _, ...body } = inference.body as Json;
    const call = { ...asked.call, inference: { ...inference, embedding: { inputs: asked.inputs }, body } };
    const answer = await embedBatches(options, { ...asked, call: call as UpstreamCall }, batches);
    if (answer.vectors.every((vector) => vector.length === length)) return answer;
    throw error;
  }
}

/** The first request that fails ends the others. */
async function embedBatches(
  { adapter, ...options }: KnownOptions,
  { call, inputs, signal, startedAt }: Asked,
  batches: readonly InputBatch[],
): Promise<EmbeddingAnswer> {
  const requests = batches.map((batch) => ({ batch, request: adapter.request(call, batch.inputs) }));
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const vectors: Vector[] = new Array(inputs.length);
  let inputTokens: number | undefined = 0;
  let limits: ReturnType<typeof rateLimitsIn> = {};
  const next = requests.values();
  const work = async () => {
    for (const { batch, request } of next) {
      const spentMs = (call.spentMs ?? 0) + performance.now() - startedAt;
      const asking = { signal: either, spentMs, capture: call.capture };
      const answer = await fetchDocument({ ...options, adapter }, request, asking).catch((error: unknown) => {
        throw atOwnPosition(error, batch.start);
      });
      limits = rateLimitsIn(answer.headers);
      const read = adapter.read(answer.json, batch.inputs.length);
      for (const [position, vector] of read.vectors.entries()) vectors[batch.start + position] = vector;
      inputTokens = sum(inputTokens, read.inputTokens);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(requestsAtOnce, requests.length) }, work));
  } catch (error) {
    failed.abort();
    throw error;
  }
  const { dropped = [] } = requests[0]?.request ?? {};
  return {
    kind: 'embeddings',
    vectors,
    inputTokens,
    ...limits,
    ...(dropped.length > 0 && { dropped }),
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}

/** The inputs in order, as few batches as the provider's bounds allow. */
function inBatches(
  inputs: readonly EmbeddingInput[],
  { inputsMax, bytesMax = Number.POSITIVE_INFINITY }: EmbeddingsAdapter,
): InputBatch[] {
  const batches: InputBatch[] = [];
  let start = 0;
  let bytes = 0;
  for (const [position, input] of inputs.entries()) {
    const size = typeof input === 'string' ? Buffer.byteLength(input) : input.length;
    if (position > start && (position - start >= inputsMax || bytes + size > bytesMax)) {
      batches.push({ start, inputs: inputs.slice(start, position) });
      start = position;
      bytes = 0;
    }
    bytes += size;
  }
  batches.push({ start, inputs: inputs.slice(start) });
  return batches;
}

/** A refusal that names an input of one request, with the input's position in the call. */
function atOwnPosition(error: unknown, start: number): unknown {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller' || start === 0) return error;
  const moved = (text: string) =>
    text.replace(/\binput\[(\d{1,6})\]/g, (_, position) => `input[${Number(position) + start}]`);
  const { param, publicMessage, ...details } = error.details;
  return new UpstreamFailure(error.kind, error.message, {
    ...details,
    ...(param != null && { param: moved(param) }),
    ...(publicMessage !== undefined && { publicMessage: moved(publicMessage) }),
  });
}
