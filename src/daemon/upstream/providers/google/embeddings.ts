import { UpstreamFailure, type Vector } from '../../../features/upstreams/upstream.ts';
import type { EmbeddingsAdapter, ProviderSettings } from '../../adapter.ts';
import { droppedMembers } from '../../dropped-members.ts';
import { countOf, type Json, objectOf, objectsOf } from '../../json.ts';
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
        dropped: droppedMembers(inference, {}),
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
    failure: (status, headers, body) => namingInputs(googleFailure(name, status, headers, body)),
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

/** Each input is the content of a request: `requests[3].content.parts[0]` is the caller's `input[3]`. */
function namingInputs(failure: UpstreamFailure): UpstreamFailure {
  const { path, publicMessage, ...details } = failure.details;
  const position = /^requests\[(\d{1,6})\]/.exec(path ?? '')?.[1];
  return new UpstreamFailure(failure.kind, failure.message, {
    ...details,
    ...(position !== undefined && { param: `input[${position}]` }),
    ...(publicMessage !== undefined && {
      publicMessage: publicMessage.replace(mentionedRequests, 'input$1'),
    }),
  });
}

/** `BatchEmbedContentsRequest.requests` with a position or without. */
const mentionedRequests = /\b(?:BatchEmbedContentsRequest\.)?requests(?:(\[\d{1,6}\])[\w.[\]]*|(?=:))/g;
