import type { ProviderApi } from '../../adapter.ts';

/** Not the `key` parameter: URLs end up in logs. */
export const keyHeaders: ProviderApi['keyHeaders'] = (key) => ({ 'x-goog-api-key': key });

/** `models/M`, or `tunedModels/M` if the name starts so. */
export function modelPath(model: string): string {
  const match = /^(models|tunedModels)\/(.+)$/.exec(model);
  return `${match?.[1] ?? 'models'}/${encodeURIComponent(match?.[2] ?? model)}`;
}
