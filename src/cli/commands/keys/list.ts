import { Command } from '@commander-js/extra-typings';
import type { Key } from '../../../shared/contract/keys.ts';
import { listKeys } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { limitsText } from './limits-text.ts';

export const listKeysCommand = (context: Context) =>
  new Command('list')
    .option('--workspace <workspace>', 'the workspace that owns the keys', 'me')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway keys list --json id,name,last_used_at'))
    .action((options) => listKeysAndShow(context, options));

async function listKeysAndShow(
  context: Context,
  { workspace, limit }: { workspace: string; limit: number },
): Promise<void> {
  const keys = await collectPages(limit, (page) =>
    context.client().call(listKeys, { params: { workspace }, query: page }),
  );
  await context.out.table(keys, columns(context.now()), { empty: 'No keys yet: gateway keys issue' });
}

const columns = (now: number): Column<Key>[] => [
  { title: 'id', value: (key) => key.id },
  { title: 'name', value: (key) => key.name },
  {
    title: 'status',
    value: (key) => key.status,
    style: (key) => (key.status === 'active' ? 'green' : 'dim'),
  },
  { title: 'secret', value: (key) => key.hint, isSpare: true },
  { title: 'scopes', value: (key) => key.scopes.join(' '), isSpare: true },
  { title: 'limits', value: (key) => limitsText(key.limits), isSpare: true },
  {
    title: 'created',
    value: (key) => key.created_at,
    show: (key) => ago(key.created_at, now),
    isSpare: true,
  },
  { title: 'last used', value: (key) => key.last_used_at, show: (key) => ago(key.last_used_at, now) },
];
