import { listOf } from '../../../shared/json/json-object.ts';
import { UpstreamFailure, type Vector } from '../../features/upstreams/upstream.ts';
import type { EmbeddingsAdapter, ProviderSettings } from '../adapter.ts';
import { countOf, type Json, objectOf, objectsOf } from '../json.ts';
import { bearerHeaders } from './openai-chat/adapter.ts';
import { openAiFailure } from './openai-chat/failure.ts';

interface EmbeddingBounds extends Pick<EmbeddingsAdapter, 'inputsMax' | 'bytesMax'> {
  /** Whether vectors are requested in base64, which is a quarter of the size. Not all servers have it. */
  hasBase64: boolean;
}

/** Few servers document a maximum number of inputs; Cohere's is 96, the lowest of those that do. */
const commonBounds: EmbeddingBounds = { inputsMax: 96, hasBase64: false };

/**
 * OpenAI's embeddings, as also offered by OpenRouter, Vercel, Mistral and servers such as Ollama, vLLM, llama.cpp and
 * LM Studio. Source: OpenAI's API reference.
 */
export function openAiEmbeddings(
  { name, baseUrl }: ProviderSettings,
  { hasBase64, ...bounds }: EmbeddingBounds = commonBounds,
): EmbeddingsAdapter {
  return {
    ...bounds,
    request({ inference: { body }, model, key }, inputs) {
      const { encoding_format: _, ...rest } = body;
      const single = inputs.length === 1 && !Array.isArray(body.input) ? inputs[0] : undefined;
      return {
        url: `${baseUrl}/embeddings`,
        headers: bearerHeaders(key),
        body: JSON.stringify({
          ...rest,
          model,
          input: single ?? inputs,
          ...(hasBase64 && { encoding_format: 'base64' }),
        }),
      };
    },
    read: (json, count) => readEmbeddings(name, json, count),
    failure: (status, headers, body) => openAiFailure(name, status, headers, body),
  };
}

function readEmbeddings(name: string, { data, usage }: Json, count: number) {
  const entries = objectsOf(data);
  if (entries.length !== count) throw unreadable(name);
  const vectors: Vector[] = new Array(count);
  const isInOrder = areInOrder(entries.map(({ index }) => index));
  for (const [position, { index, embedding }] of entries.entries()) {
    const vector = readVector(embedding);
    const slot = isInOrder ? position : (countOf(index) ?? position);
    if (!vector || slot >= count || slot in vectors) throw unreadable(name);
    vectors[slot] = vector;
  }
  const { prompt_tokens: prompt, total_tokens: total } = objectOf(usage) ?? {};
  // No input has no tokens: LM Studio does not count them. Source: lmstudio-ai/lmstudio-bug-tracker#1546.
  return { vectors, inputTokens: countOf(prompt) || countOf(total) || undefined };
}

/**
 * Whether the positions say no more than the order of the vectors: some servers write 0 into all, or go on counting from other requests.
 * Source: BerriAI/litellm#25656, xorbitsai/inference#5240.
 */
function areInOrder(positions: readonly unknown[]): boolean {
  const [first] = positions;
  return (
    positions.every((position) => position === first) ||
    (typeof first === 'number' && positions.every((position, at) => position === first + at))
  );
}

function unreadable(name: string): UpstreamFailure {
  return new UpstreamFailure('broken', `${name} did not answer with one vector for each input`);
}

/** Numbers, also as the only list in a list, or 32-bit floats in base64. Source: abetlen/llama-cpp-python#1588. */
function readVector(embedding: unknown): Vector | undefined {
  if (typeof embedding === 'string') return fromBase64(embedding);
  const [first, ...others] = listOf(embedding);
  const values = Array.isArray(first) && others.length === 0 ? first : listOf(embedding);
  return values.length > 0 && values.every(Number.isFinite) ? (values as number[]) : undefined;
}

function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  // A copy, since a buffer may start at a position that is no multiple of four.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
