import type { CreateEmbeddingBody } from '../../../../shared/contract/embeddings.ts';
import { invalid, type Json } from '../../../../shared/faults/invalid-request.ts';
import type { Settled } from '../../calls/index.ts';
import type { EmbeddingInput, Inference } from '../../upstreams/neutral.ts';
import type { Vector } from '../../upstreams/upstream.ts';

/** Parses a call for embeddings. Source: OpenAI's API reference. Fails with `invalid_request`. */
export function parseEmbeddings({ service, ...body }: CreateEmbeddingBody): Inference {
  if (service?.fallbacks?.length)
    throw invalid(
      'service.fallbacks',
      'Vectors of different models cannot be compared: a call for embeddings has no fallbacks.',
    );
  return {
    wire: 'embeddings',
    model: body.model,
    stream: false,
    items: [],
    instructions: undefined,
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    format: undefined,
    verbosity: undefined,
    outputTokensMax: 0,
    sampling: {},
    reasoning: undefined,
    embedding: { inputs: inputsOf(body.input), dimensions: body.dimensions ?? undefined },
    body,
  };
}

function inputsOf(input: CreateEmbeddingBody['input']): EmbeddingInput[] {
  return typeof input === 'string' || isTokens(input) ? [input] : input;
}

function isTokens(input: Exclude<CreateEmbeddingBody['input'], string>): input is number[] {
  return typeof input[0] === 'number';
}

/** The answer in OpenAI's format, with the cost of the call. */
export function renderEmbeddings(
  vectors: readonly Vector[],
  { model, format }: { model: string; format: CreateEmbeddingBody['encoding_format'] },
  { tokens, service }: Settled,
): Json {
  const show = format === 'base64' ? toBase64 : toNumbers;
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: show(vector) })),
    model,
    usage: {
      prompt_tokens: tokens.input,
      total_tokens: tokens.input,
      cost_usd: service.cost?.total_usd ?? null,
    },
    service,
  };
}

function toNumbers(vector: Vector): readonly number[] {
  return vector instanceof Float32Array ? [...vector] : vector;
}

function toBase64(vector: Vector): string {
  const { buffer, byteOffset, byteLength } =
    vector instanceof Float32Array ? vector : Float32Array.from(vector);
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
