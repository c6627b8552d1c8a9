import type { DaemonStatus, ProviderStatus } from '../../../shared/contract/daemon.ts';
import type { ProviderKey } from '../../../shared/contract/provider-keys.ts';
import {
  checkProviderKey,
  deleteProviderKey,
  getStatus,
  listProviderKeys,
  putProviderKey,
} from '../../../shared/endpoints.ts';
import { knownProviders } from '../../../shared/known-providers.ts';
import { ago, duration } from '../../../view/durations.ts';
import { count } from '../../../view/numbers.ts';
import type { Column } from '../../output/table.ts';
import { vaultText } from '../../output/vault-text.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import { FieldFault } from '../text/form-field.ts';
import type { ListColumn } from '../text/list-table.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Screen } from './screen.ts';

/** A provider, with the workspace's own key for it. */
interface ProviderRow {
  provider: ProviderStatus;
  ownKey: ProviderKey | undefined;
  status: DaemonStatus;
}

const workspace = 'me';

/** The providers with their state and sealed keys; only for the owner of the host. */
export const providersScreen: Screen<ProviderRow> = {
  id: 'providers',
  title: 'Providers',
  letter: 'p',
  aliases: ['provider', 'daemon', 'status'],
  empty: ['No providers.'],
  footer: ['open', 'compose', 'remove', 'filter', 'refresh'],
  refreshEveryMs: 5000,
  columns: () => columns,
  async load({ client }) {
    const [status, keys] = await Promise.all([
      client.call(getStatus, {}),
      // Members without access to provider keys still see the states.
      client
        .call(listProviderKeys, { params: { workspace } })
        .then(({ data }) => data)
        .catch((): ProviderKey[] => []),
    ]);
    const known = new Set(status.providers.map(({ name }) => name));
    const unknown = keys
      .filter(({ provider }) => !known.has(provider))
      .map(
        ({ provider }): ProviderStatus => ({ name: provider, state: 'unavailable', models: 0, reason: null }),
      );
    return [...status.providers, ...unknown].map((provider) => ({
      provider,
      ownKey: keys.find((key) => key.provider === provider.name),
      status,
    }));
  },
  idOf: ({ provider }) => provider.name,
  copyText: ({ provider }) => provider.name,
  json: ({ provider, ownKey }) => ({ ...provider, own_key: ownKey ?? null }),
  summary(rows, _services, { paint, width }) {
    const status = rows[0]?.status;
    if (!status) return [];
    const { storage, vault } = status;
    const facts = [
      `version ${status.version}`,
      `up ${duration(status.uptime_ms)}`,
      storage.writable ? 'storage writable' : `storage not writable: ${storage.reason}`,
      `vault: ${vaultText(vault.state)}`,
    ];
    const lines = wrapLine(facts.join(' · '), width);
    return storage.writable ? lines : lines.map((line) => paint('red', line));
  },
  preview: (row, options) => recordLines(row, recordColumns(options.now), options),
  open: async (row, { now }) =>
    recordPage(row.provider.name, row, { columns: recordColumns(now()), copy: row.provider.name }),
  compose: {
    label: 'set own key',
    fields: (row) => [
      {
        name: 'provider',
        label: 'provider',
        kind: 'choice',
        choices: knownProviders,
        initial: knownProviders.find((name) => name === row?.provider.name),
      },
      { name: 'key', label: 'key', kind: 'hidden', placeholder: 'paste it; it is not shown' },
    ],
    async submit({ provider: name, key = '' }, { client }) {
      const provider = knownProviders.find((one) => one === name);
      if (!provider) throw new FieldFault('provider', 'Choose a provider.');
      const stored = await client.call(putProviderKey, { params: { workspace, provider }, body: { key } });
      const check = await client.call(checkProviderKey, { params: { workspace, provider } });
      return `The key ${stored.fingerprint} is stored sealed. ${check.message}`;
    },
  },
  remove: {
    question: (rows) =>
      `Delete your own key for ${rows.map(({ provider }) => provider.name).join(', ')}? Calls that need it will fail.`,
    verb: 'Delete',
    async run(rows, { client }) {
      const own = rows.flatMap(({ ownKey }) => (ownKey ? [ownKey] : []));
      for (const { provider } of own)
        await client.call(deleteProviderKey, { params: { workspace, provider } });
      return own.length === 0
        ? 'There is no key of your own to delete.'
        : `Deleted your own key for ${own.map(({ provider }) => provider).join(', ')}.`;
    },
  },
};

const columns: ListColumn<ProviderRow>[] = [
  { title: 'provider', width: 14, text: ({ provider }) => provider.name },
  { title: 'state', width: 11, text: ({ provider }) => provider.state, style: stateStyle },
  { title: 'models', width: 6, align: 'right', text: ({ provider }) => count(provider.models) },
  { title: 'own key', width: 12, spare: 1, text: ({ ownKey }) => ownKey?.fingerprint ?? '–' },
  { title: 'reason', width: 10, grows: true, text: ({ provider }) => provider.reason ?? '' },
];

const recordColumns = (now: number): Column<ProviderRow>[] => [
  { title: 'provider', value: ({ provider }) => provider.name },
  { title: 'state', value: ({ provider }) => provider.state, style: stateStyle },
  { title: 'reason', value: ({ provider }) => provider.reason },
  { title: 'models', value: ({ provider }) => count(provider.models) },
  { title: 'own key', value: ({ ownKey }) => ownKey?.fingerprint },
  { title: 'sealed', value: ({ ownKey }) => ownKey && ago(ownKey.updated_at, now) },
  { title: 'vault', value: ({ status }) => status.vault.reason ?? vaultText(status.vault.state) },
  { title: 'default model', value: ({ status }) => status.default_model },
  { title: 'data folder', value: ({ status }) => status.data_dir },
];

function stateStyle({ provider }: ProviderRow): 'green' | 'yellow' | 'dim' {
  if (provider.state === 'available') return 'green';
  return provider.state === 'benched' ? 'yellow' : 'dim';
}
