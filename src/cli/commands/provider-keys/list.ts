import { Command } from '@commander-js/extra-typings';
import { listProviderKeys } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { columns } from './columns.ts';

export const listProviderKeysCommand = (context: Context) =>
  new Command('list')
    .option('--workspace <workspace>', 'the workspace whose keys they are', 'me')
    .addHelpText('after', example('gateway provider-keys list --json provider,fingerprint'))
    .action(async ({ workspace }) => {
      const { data } = await context.client().call(listProviderKeys, { params: { workspace } });
      const empty = 'No provider keys yet: gateway provider-keys set <provider>';
      await context.out.table(data, columns(context.now()), { empty });
    });
