import { Command } from '@commander-js/extra-typings';
import type { AlertFiring } from '../../shared/contract/alerts.ts';
import type {
  DaemonStatus,
  DefaultModel,
  ProviderStatus,
  ServiceStatus,
} from '../../shared/contract/daemon.ts';
import { getServiceStatus, getStatus, listFirings } from '../../shared/endpoints.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { serverAddresses } from '../../shared/storage/database-url.ts';
import { ago, duration } from '../../view/durations.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';
import { vaultText } from '../output/vault-text.ts';

export const statusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway status --json=url,pid'))
    .action(() => showStatus(context));

/** Shows the daemon's status to its owner, and the service's to everyone else. */
export async function showStatus(context: Context): Promise<void> {
  try {
    const status = await context.client().call(getStatus, {});
    await context.out.record(status, columns);
    await showProviders(context, status.providers, providerColumns);
  } catch (error) {
    if (!(error instanceof ReceivedError) || !notOwner.test(error.code)) throw error;
    const status = await context.client().call(getServiceStatus, {});
    const { url } = context.host();
    await context.out.record({ url, ...status }, serviceColumns);
    await showProviders(context, status.providers, providerColumns.slice(0, 3));
  }
  await showFiring(context);
}

/** The alerts that fire in the caller's workspace, for people. */
async function showFiring(context: Context): Promise<void> {
  if (context.out.wantsJson() || context.out.isQuiet() || !context.io.stdout.isTty) return;
  const input = { params: { workspace: 'me' }, query: { open: true, limit: firingShown } };
  // A key may not read the workspace, and an older daemon has no alerts.
  const firing = await context
    .client()
    .call(listFirings, input)
    .catch(() => undefined);
  if (!firing || firing.data.length === 0) return;
  context.out.text('\n');
  const columns: Column<AlertFiring>[] = [
    { title: 'alert', value: ({ alert }) => alert, style: () => 'red' },
    { title: 'fired', value: ({ fired_at }) => fired_at, show: (each) => ago(each.fired_at, context.now()) },
    { title: 'message', value: ({ message }) => message },
  ];
  await context.out.table(firing.data, columns, { empty: '' });
}

const firingShown = 10;

const notOwner = /^(permission|signed_out|out_of_scope)$/;

async function showProviders<Row>(context: Context, rows: Row[], titles: Column<Row>[]): Promise<void> {
  if (context.out.wantsJson() || context.out.isQuiet() || !context.io.stdout.isTty) return;
  context.out.text('\n');
  await context.out.table(rows, titles, { empty: 'No providers.' });
}

const sourceText: Readonly<Record<ServiceStatus['default_model_source'], string>> = {
  configuration: 'set in the configuration',
  local_server: 'not set; a local model',
  simulator: 'not set; the built-in simulator',
};

const defaultModelColumn: Column<DefaultModel> = {
  title: 'default_model',
  value: (status) => status.default_model,
  show: (status) => `${status.default_model} (${sourceText[status.default_model_source]})`,
};

const serviceColumns: Column<ServiceStatus & { url: string }>[] = [
  { title: 'url', value: (status) => status.url },
  { title: 'version', value: (status) => status.version },
  {
    title: 'state',
    value: (status) => (status.writable ? 'serving' : 'not serving: nothing can be written'),
    style: (status) => (status.writable ? 'green' : 'red'),
  },
  defaultModelColumn,
];

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
  { title: 'workers', value: (status) => status.workers },
  defaultModelColumn,
  {
    title: 'storage',
    value: (status) => (status.storage.writable ? 'writable' : (status.storage.reason ?? 'not writable')),
    show: ({ storage }) => storageText(storage),
    style: (status) => (status.storage.writable ? 'green' : 'red'),
  },
  {
    title: 'vault',
    value: (status) => status.vault.state,
    show: ({ vault: { state, store, reason } }) =>
      [store === null ? vaultText(state) : `${vaultText(state)} (${store})`, reason]
        .filter(Boolean)
        .join(': '),
    style: ({ vault }) => (vault.state === 'sealed' || vault.state === 'wrong_key' ? 'yellow' : 'dim'),
  },
  {
    title: 'wallet',
    value: ({ wallet }) => `${wallet.backend} ${wallet.state}`,
    show: ({ wallet }) => walletText(wallet),
    style: ({ wallet }) => (wallet.state === 'ready' ? 'dim' : 'yellow'),
  },
  {
    title: 'spans',
    value: ({ spans }) => spans && `${spans.delivered} delivered, ${spans.lost} lost`,
    show: ({ spans }) => spansText(spans),
    style: ({ spans }) => (spans && spans.lost > 0 ? 'yellow' : 'dim'),
  },
];

/** An earlier daemon says nothing of them. */
function spansText(spans: DaemonStatus['spans'] | undefined): string {
  if (!spans) return 'none are sent';
  const lost = spans.lost > 0 ? `, ${count(spans.lost)} lost: ${spans.problem}` : '';
  return `${count(spans.delivered)} delivered to ${spans.collector}${lost}`;
}

function storageText({ writable, reason, server }: DaemonStatus['storage']): string {
  const state = writable ? 'writable' : (reason ?? 'not writable');
  if (server === null) return state;
  const used = serverAddresses(server.address).length > 1 ? `, using ${server.host}` : '';
  const others = server.daemons > 1 ? `, ${server.daemons} daemons` : '';
  return `${state} (PostgreSQL ${server.version} at ${server.address}${used}${others})`;
}

function walletText({ backend, state, problems }: DaemonStatus['wallet']): string {
  if (backend === 'embedded') return ['embedded (play money)', ...problems].join('; ');
  return [`${backend} (${state})`, ...problems].join('; ');
}

const providerColumns: Column<
  Pick<ProviderStatus, 'name' | 'state' | 'models'> & { reason?: string | null }
>[] = [
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
