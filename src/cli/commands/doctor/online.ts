import { refreshModels } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { isLocalDown } from '../../hosts/hosts.ts';
import type { Finding } from './finding.ts';

/** Has the daemon ask every provider that it has a key for; only where somebody wants it, as others hear of it. */
export async function checkOnline(context: Context, { online }: { online?: true }): Promise<Finding[]> {
  if (!online || isLocalDown(context)) return [];
  const { data } = await context.client().call(refreshModels, {});
  return data.map(({ provider, models, error }) => ({
    check: 'online',
    state: error === null ? 'ok' : 'broken',
    message: `${provider}: ${error ?? `it takes the key and has ${models} models`}`,
    remedy: error === null ? null : 'Check the key and the way to the provider, then run this again.',
  }));
}
