import { UpstreamFailure, type Vector } from '../../../features/inference/upstream.ts';
import type { EmbeddingsAdapter, ProviderSettings } from '../../adapter.ts';
import { countOf, type Json, objectOf, objectsOf } from '../../json.ts';
import { leftOut } from '../../left-out.ts';
import { unsupported } from '../provider-failures.ts';
import { googleFailure } from './failure.ts';
import { keyHeaders, modelPath } from './model-url.ts';

/** The method models.batchEmbedContents. Source: the Gemini API reference, "Embeddings". */
export function googleEmbeddings({ name, baseUrl }: ProviderSettings): EmbeddingsAdapter {
  return {
    inputsMax: 100,
    request({ inference, model, key }, inputs) {
      const path = modelPath(model);
      const outputDimensionality = inference.embedding?.dimensions;
      const requests = inputs.map((input) => {
        if (typeof input !== 'string') throw unsupported('This model accepts texts, not tokens.', 'input');
        return { model: path, content: { parts: [{ text: input }] }, outputDimensionality };
      });
      return {
        url: `${baseUrl}/${path}:batchEmbedContents`,
        headers: { 'content-type': 'application/json', ...(key !== undefined && keyHeaders(key)) },
        body: JSON.stringify({ requests }),
        dropped: leftOut(inference, {}),
      };
    },
    read({ embeddings, usageMetadata }, count) {
      const vectors = objectsOf(embeddings)
        .map(readVector)
        .filter((vector) => vector !== undefined);
      if (vectors.length !== count)
        throw new UpstreamFailure('broken', `${name} did not answer with one vector for each input`);
      return { vectors, inputTokens: countOf(objectOf(usageMetadata)?.promptTokenCount) };
    },
    failure: (status, headers, body) => googleFailure(name, status, headers, body),
  };
}

/** As a unit vector: Google shortens vectors to the requested length without normalizing them again. */
function readVector({ values }: Json): Vector | undefined {
  if (!Array.isArray(values) || values.length === 0 || !values.every(Number.isFinite)) return undefined;
  const vector = values as number[];
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  const isUnit = length === 0 || Math.abs(length - 1) < 1e-3;
  return isUnit ? vector : vector.map((value) => value / length);
}
