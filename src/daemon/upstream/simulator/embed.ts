import type { EmbeddingInput, EmbeddingRequest } from '../../features/upstreams/neutral.ts';
import { type EmbeddingAnswer, UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { countTokens } from './conversation.ts';
import { embeddingContextLength, embeddingModel } from './models.ts';

const dimensionsDefault = 256;
const dimensionsMax = 4096;
/** The weight of a whole word against that of one of its parts. */
const wordWeight = 3;

/** Answers a call for embeddings. The same text always has the same vector. */
export function embed(model: string, { inputs, dimensions }: EmbeddingRequest): EmbeddingAnswer {
  if (model !== embeddingModel)
    throw new UpstreamFailure('unknown-model', `the simulator has no embedding model ${model}`, {
      status: 404,
    });
  const length = dimensions ?? dimensionsDefault;
  if (length > dimensionsMax)
    throw refusal('dimensions', `The simulator's vectors have at most ${dimensionsMax} dimensions.`);
  const counts = inputs.map((input) => (typeof input === 'string' ? countTokens(input) : input.length));
  const tooLong = counts.findIndex((count) => count > embeddingContextLength);
  if (tooLong >= 0)
    throw refusal(
      inputs.length > 1 ? `input[${tooLong}]` : 'input',
      `This input is ${counts[tooLong]} tokens long; the simulator accepts ${embeddingContextLength}.`,
      'context_length_exceeded',
    );
  return {
    kind: 'embeddings',
    vectors: inputs.map((input) => vectorOf(input, length)),
    inputTokens: counts.reduce((sum, count) => sum + count, 0),
  };
}

function refusal(
  param: string,
  message: string,
  code: 'unsupported_value' | 'context_length_exceeded' = 'unsupported_value',
): UpstreamFailure {
  return new UpstreamFailure('caller', message, { status: 400, code, param, publicMessage: message });
}

/** The hashed features of an input as a unit vector: the cosine of two is the share of features in common. */
function vectorOf(input: EmbeddingInput, length: number): Float32Array {
  const vector = new Float32Array(length);
  for (const [feature, weight] of featuresOf(input)) {
    const hash = hashOf(feature);
    const index = (hash >>> 1) % length;
    vector[index] = (vector[index] ?? 0) + (hash % 2 === 0 ? weight : -weight);
  }
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (norm === 0) vector[0] = 1;
  else for (const index of vector.keys()) vector[index] = (vector[index] ?? 0) / norm;
  return vector;
}

/**
 * Words and their parts of three characters, in lower case and without accents; for tokens, the tokens and their pairs.
 * Repeated features count less each time.
 */
function featuresOf(input: EmbeddingInput): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (feature: string, weight: number) =>
    counts.set(feature, Math.hypot(counts.get(feature) ?? 0, weight));
  if (typeof input !== 'string') {
    for (const [position, token] of input.entries()) {
      add(`${token}`, wordWeight);
      add(`${token} ${input[position + 1]}`, 1);
    }
    return counts;
  }
  const plain = input.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  for (const word of plain.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []) {
    add(word, wordWeight);
    const characters = [...`_${word}_`];
    for (let at = 0; at + 3 <= characters.length; at += 1) add(characters.slice(at, at + 3).join(''), 1);
  }
  return counts;
}

/** FNV-1a with a final mix, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
