import { Command } from '@commander-js/extra-typings';
import type { Client } from '../../../shared/client.ts';
import type { Key, KeyWithUse } from '../../../shared/contract/keys.ts';
import { listKeys, showKey } from '../../../shared/endpoints.ts';
import { ago } from '../../../view/durations.ts';
import { isInUse, listedName } from '../../../view/key-names.ts';
import { dollars } from '../../../view/money.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../../hosts/pages.ts';
import { resolveWorkspace } from '../../names/resolve.ts';
import { csvOption, delimiterOption, example, wholeNumber } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { type Period, spendShare, spentOfCap, statusStyles, styleOfShare } from './keys.ts';
import { limitsText } from './limits.ts';

export const listKeysCommand = (context: Context) =>
  new Command('list')
    .option('--workspace <workspace>', 'the workspace that owns the keys', 'me')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 1000)
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway keys list --json=id,name,last_used_at'))
    .action((options) => listKeysAndShow(context, options));

async function listKeysAndShow(
  context: Context,
  { workspace: given, limit }: { workspace: string; limit: number },
): Promise<void> {
  const workspace = await resolveWorkspace(context, given);
  const params = { workspace };
  const client = context.client();
  const keys = await collectPages(limit, (query) => client.call(listKeys, { params, query }));
  const { io, out, flags } = context;
  const isRead = io.stdout.isTty && !out.wantsJson() && !out.isQuiet() && !flags.csv;
  const columns = isRead
    ? readColumns({ now: context.now(), keys, uses: await usesOf(client, workspace, keys) })
    : keyColumns;
  await out.table(keys, columns, { empty: 'No keys yet: gateway keys issue' });
}

/** The use of each key takes one call. */
const usesMax = 40;

/** The keys in use with their use, by id, as far as it can be read. */
export async function usesOf(
  client: Client,
  workspace: string,
  keys: readonly Key[],
): Promise<Map<string, KeyWithUse>> {
  const active = keys.filter(isInUse).slice(0, usesMax);
  const shown = await Promise.all(
    active.map(({ id }) => client.call(showKey, { params: { workspace, key: id } }).catch(() => undefined)),
  );
  return new Map(shown.flatMap((one) => (one ? [[one.id, one] as const] : [])));
}

/** For pipes and spreadsheets. */
const keyColumns: Column<Key>[] = [
  { title: 'id', value: (key) => key.id },
  { title: 'name', value: (key) => key.name },
  { title: 'status', value: (key) => key.status },
  { title: 'secret', value: (key) => key.hint },
  { title: 'scopes', value: (key) => key.scopes.join(' ') },
  { title: 'limits', value: (key) => limitsText(key.limits) },
  { title: 'created', value: (key) => key.created_at },
  { title: 'last used', value: (key) => key.last_used_at },
];

interface ReadOptions {
  /** In milliseconds since 1970. */
  now: number;
  keys: readonly Key[];
  uses: ReadonlyMap<string, KeyWithUse>;
}

/** For people: what each key has spent comes before what is the same for most keys. */
function readColumns({ now, keys, uses }: ReadOptions): Column<Key>[] {
  const scopesOf = (key: Key) => key.scopes.toSorted().join(' ');
  const haveEqualScopes = new Set(keys.map(scopesOf)).size < 2;
  return [
    { title: 'name', value: (key) => listedName(key, keys) || key.id },
    {
      title: 'status',
      value: (key) => key.status,
      style: ({ status }) => statusStyles[status] ?? 'dim',
    },
    {
      title: 'used',
      value: (key) => usedText(uses.get(key.id)),
      style: (key) => styleOfShare(largestShare(uses.get(key.id))),
    },
    { title: 'limits', value: (key) => limitsText(key.limits) || 'none' },
    { title: 'last used', value: (key) => key.last_used_at, show: (key) => ago(key.last_used_at, now) },
    { title: 'secret', value: (key) => key.hint, isSpare: true },
    { title: 'id', value: (key) => key.id, isSpare: true },
    {
      title: 'created',
      value: (key) => key.created_at,
      show: (key) => ago(key.created_at, now),
      isSpare: true,
    },
    ...(haveEqualScopes
      ? []
      : [{ title: 'scopes', value: (key: Key) => key.scopes.join(' '), isSpare: true } as const]),
  ];
}

const periodNames: Readonly<Record<Period, string>> = {
  day: 'today',
  week: 'this week',
  month: 'this month',
  total: 'in total',
};

/** What a key has spent, in the period of its limit or else this month: `$0.42 of $5 today`. */
function usedText(key: KeyWithUse | undefined): string {
  if (!key) return '–';
  const cap = key.limits.spend_cap;
  if (!cap) return `${dollars(key.used.spend_usd.month)} ${periodNames.month}`;
  return `${dollars(spentOfCap(key))} of ${dollars(cap.usd)} ${periodNames[cap.period]}`;
}

function largestShare(key: KeyWithUse | undefined): number | undefined {
  const cap = key?.limits.spend_cap;
  return key && cap ? spendShare(key, cap.period) : undefined;
}
