import { pictureIn } from '../../../../shared/formats/pictures.ts';
import { listOf } from '../../../../shared/json/json-object.ts';
import type { ModelKind } from '../../../features/catalog/index.ts';
import type { Adapter, ProviderApi, ProviderSettings } from '../../adapter.ts';
import { droppedMembers, type Sent } from '../../dropped-members.ts';
import { type Json, objectOf } from '../../json.ts';
import { newCallId } from '../call-ids.ts';
import { listedCount, listedModel, listedText } from '../listed-model.ts';
import { generateDecoder } from './decoder.ts';
import { googleEmbeddings } from './embeddings.ts';
import { googleFailure } from './failure.ts';
import { originalNames } from './functions.ts';
import { keyHeaders, modelPath } from './model-url.ts';
import { generateBody } from './request.ts';

/** Google's Gemini API. Source: the Gemini API reference. */
export const google: ProviderApi = {
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  wires: undefined,
  adapter: (settings) => googleAdapter(settings),
  embeddings: (settings) => googleEmbeddings(settings),
  keyHeaders,
  keyCheckUrl: (baseUrl) => `${baseUrl}/models?pageSize=1`,
  models: {
    url: (baseUrl, page) =>
      `${baseUrl}/models?pageSize=1000${page === undefined ? '' : `&pageToken=${encodeURIComponent(page)}`}`,
    listIn: ({ models }) => models,
    nextPage: ({ nextPageToken }) => listedText(nextPageToken),
    read({ supportedGenerationMethods: methods, name, displayName, description, ...limits }) {
      const kind = kindOf(methods);
      if (Array.isArray(methods) && kind === undefined) return undefined;
      return listedModel(listedText(name)?.replace(/^models\//, ''), {
        kind,
        title: listedText(displayName),
        description: listedText(description),
        contextLength: listedCount(limits.inputTokenLimit),
        outputTokensMax: listedCount(limits.outputTokenLimit),
      });
    },
  },
};

/** The method models.streamGenerateContent, always streamed. `makeCallId` returns unique ids for function calls. */
export function googleAdapter(
  settings: ProviderSettings,
  { makeCallId = newCallId }: { makeCallId?: () => string } = {},
): Adapter {
  return {
    request(call) {
      const body = generateBody(call, settings.name);
      return {
        url: `${settings.baseUrl}/${modelPath(call.model)}:streamGenerateContent?alt=sse`,
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...(call.key !== undefined && keyHeaders(call.key)),
        },
        body: JSON.stringify(body),
        dropped: droppedMembers(call.inference, sentIn(body), ({ json }) => pictureIn(json) !== undefined),
      };
    },
    decoder: ({ model, inference }) =>
      generateDecoder({
        provider: settings.name,
        model,
        makeCallId,
        names: originalNames(inference.tools),
        callsMax: inference.parallelToolCalls === false ? 1 : undefined,
      }),
    failure: (status, headers, body) => googleFailure(settings.name, status, headers, body),
  };
}

/** What the methods of a listed model are for. */
function kindOf(methods: unknown): ModelKind | undefined {
  const has = (method: string) => listOf(methods).includes(method);
  if (has('generateContent')) return 'chat';
  return has('embedContent') ? 'embedding' : undefined;
}

/** The options that a request contains. */
function sentIn({ generationConfig }: Json): Sent {
  const config = objectOf(generationConfig) ?? {};
  return {
    temperature: config.temperature,
    topP: config.topP,
    topK: config.topK,
    presencePenalty: config.presencePenalty,
    frequencyPenalty: config.frequencyPenalty,
    stop: config.stopSequences,
    seed: config.seed,
    logprobs: config.logprobs,
    effort: config.thinkingConfig,
  };
}
