import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { generateDecoder } from './decoder.ts';
import { failureOf } from './failure.ts';
import { callersNames } from './function-names.ts';
import { generateBody } from './request.ts';

/** Where the API is, unless the settings say otherwise. */
export const googleBaseUrl = 'https://generativelanguage.googleapis.com/v1beta';

export interface GoogleOptions {
  /** An id for a function call, never the same twice. */
  makeCallId: () => string;
}

/** Google's Gemini API, models.streamGenerateContent. The key goes into a header: URLs end up in logs. */
export function googleAdapter(settings: ProviderSettings, { makeCallId }: GoogleOptions): Adapter {
  return {
    request(call) {
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
      };
      if (call.key !== undefined) headers['x-goog-api-key'] = call.key;
      return {
        url: `${settings.baseUrl}/${modelPath(call.model)}:streamGenerateContent?alt=sse`,
        headers,
        body: JSON.stringify(generateBody(call, settings.name)),
      };
    },
    decoder: ({ model, inference }) =>
      generateDecoder({ provider: settings.name, model, makeCallId, names: callersNames(inference.tools) }),
    failure: (status, headers, body) => failureOf(settings.name, status, headers, body),
  };
}

/** `models/M`, or `tunedModels/M` where the name says so. */
function modelPath(model: string): string {
  const match = /^(models|tunedModels)\/(.+)$/.exec(model);
  return `${match?.[1] ?? 'models'}/${encodeURIComponent(match?.[2] ?? model)}`;
}
