import { Command } from '@commander-js/extra-typings';
import type { Client } from '../../../shared/client.ts';
import type { Key, KeyWithUse } from '../../../shared/contract/keys.ts';
import { listKeys, showKey } from '../../../shared/endpoints.ts';
import { labelOf, pick } from '../../../view/field.ts';
import { isInUse, listedName } from '../../../view/key-names.ts';
import { keyFields } from '../../../view/keys.ts';
import { dollars } from '../../../view/money.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../../hosts/pages.ts';
import { resolveWorkspace } from '../../names/resolve.ts';
import { csvOption, delimiterOption, example, wholeNumber } from '../../options.ts';
import { listColumn } from '../../output/field-columns.ts';
import type { Column } from '../../output/table.ts';
import { type Period, spendShare, spentOfCap, styleOfShare } from './keys.ts';

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
    : plainColumns(context.now());
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
function plainColumns(now: number): Column<Key>[] {
  const names = ['id', 'name', 'status', 'secret', 'scopes', 'limits', 'created_at', 'last_used_at'];
  return pick(keyFields, names).map((field) => ({ ...listColumn(field, { now }), title: labelOf(field) }));
}

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
  const listed = (...names: string[]) => pick(keyFields, names).map((field) => listColumn(field, { now }));
  const spare = (...names: string[]) =>
    listed(...names).map((column) => ({ ...column, isSpare: true as const }));
  return [
    { title: 'name', value: (key) => listedName(key, keys) || key.id },
    ...listed('status'),
    {
      title: 'used',
      value: (key) => usedText(uses.get(key.id)),
      style: (key) => styleOfShare(largestShare(uses.get(key.id))),
    },
    ...listed('limits', 'last_used_at'),
    ...spare('secret', 'id', 'created_at', ...(haveEqualScopes ? [] : ['scopes'])),
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
