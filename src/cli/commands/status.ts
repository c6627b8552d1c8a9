import { Command } from '@commander-js/extra-typings';
import type { DaemonStatus, ProviderStatus } from '../../shared/contract/daemon.ts';
import type { Context } from '../context.ts';
import { getStatus } from '../manifest/endpoints.ts';
import { example } from '../manifest/options.ts';
import { count } from '../output/amount.ts';
import type { Column } from '../output/table.ts';
import { duration } from '../output/time.ts';

export const statusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway status --json=url,pid'))
    .action(() => showStatus(context));

export async function showStatus(context: Context): Promise<void> {
  const status = await context.client().call(getStatus, {});
  await context.out.record(status, columns);
  if (context.out.wantsJson() || context.out.isQuiet() || !context.io.stdout.isTty) return;
  context.out.text('\n');
  await context.out.table(status.providers, providerColumns, { empty: 'No providers.' });
}

const columns: Column<DaemonStatus>[] = [
  { title: 'url', value: (status) => status.url },
  {
    title: 'socket',
    value: (status) => status.socket,
    show: (status) => status.socket ?? 'none',
    style: (status) => (status.socket === null ? 'dim' : undefined),
  },
  { title: 'pid', value: (status) => status.pid },
  { title: 'version', value: (status) => status.version },
  { title: 'uptime_ms', value: (status) => status.uptime_ms, show: (status) => duration(status.uptime_ms) },
  { title: 'data_dir', value: (status) => status.data_dir },
  { title: 'default_model', value: (status) => status.default_model },
  {
    title: 'storage',
    value: (status) => (status.storage.writable ? 'writable' : (status.storage.reason ?? 'not writable')),
    style: (status) => (status.storage.writable ? 'green' : 'red'),
  },
  {
    title: 'vault',
    value: (status) => status.vault.state,
    show: ({ vault }) => (vault.store === null ? vault.state : `${vault.state} (${vault.store})`),
    style: ({ vault }) => (vault.state === 'sealed' || vault.state === 'wrong_key' ? 'yellow' : 'dim'),
  },
];

const providerColumns: Column<ProviderStatus>[] = [
  { title: 'provider', value: (provider) => provider.name },
  {
    title: 'state',
    value: (provider) => provider.state,
    style: (provider) => (provider.state === 'available' ? 'green' : 'yellow'),
  },
  {
    title: 'models',
    value: (provider) => provider.models,
    show: (provider) => count(provider.models),
    align: 'right',
    isSpare: true,
  },
  { title: 'reason', value: (provider) => provider.reason, show: (provider) => provider.reason ?? '' },
];
