import type { Adapter, ProviderApi, ProviderSettings } from '../../adapter.ts';
import { type Json, objectOf } from '../../json.ts';
import { leftOut, type Sent } from '../../left-out.ts';
import { newCallId } from '../call-ids.ts';
import { listedCount, listedModel, listedText } from '../listed-model.ts';
import { generateDecoder } from './decoder.ts';
import { googleFailure } from './failure.ts';
import { originalNames } from './functions.ts';
import { generateBody } from './request.ts';

/** Not the `key` parameter: URLs end up in logs. */
const keyHeaders: ProviderApi['keyHeaders'] = (key) => ({ 'x-goog-api-key': key });

/** Google's Gemini API. Source: the Gemini API reference. */
export const google: ProviderApi = {
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  wires: undefined,
  adapter: (settings) => googleAdapter(settings),
  keyHeaders,
  keyCheckUrl: (baseUrl) => `${baseUrl}/models?pageSize=1`,
  models: {
    url: (baseUrl, page) =>
      `${baseUrl}/models?pageSize=1000${page === undefined ? '' : `&pageToken=${encodeURIComponent(page)}`}`,
    listIn: ({ models }) => models,
    nextPage: ({ nextPageToken }) => listedText(nextPageToken),
    read({ supportedGenerationMethods: methods, name, displayName, description, ...limits }) {
      if (Array.isArray(methods) && !methods.includes('generateContent')) return undefined;
      return listedModel(listedText(name)?.replace(/^models\//, ''), {
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
        dropped: leftOut(call.inference, sentIn(body), { pictures: true }),
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

/** `models/M`, or `tunedModels/M` if the name starts so. */
function modelPath(model: string): string {
  const match = /^(models|tunedModels)\/(.+)$/.exec(model);
  return `${match?.[1] ?? 'models'}/${encodeURIComponent(match?.[2] ?? model)}`;
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
    effort: config.thinkingConfig,
  };
}
