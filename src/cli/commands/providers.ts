import { Command } from '@commander-js/extra-typings';
import type { EndedBench } from '../../shared/contract/providers.ts';
import type { Context } from '../context.ts';
import { retryProvider } from '../endpoints.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const retryProviderCommand = (context: Context) =>
  new Command('retry')
    .argument('<provider>', 'a provider or an upstream')
    .addHelpText('after', example('gateway providers retry openai'))
    .action(async (provider) => {
      const { ended } = await context.client().call(retryProvider, { params: { provider } });
      await context.out.table(ended, endedColumns, { empty: `${provider} was not benched.` });
    });

const endedColumns: Column<EndedBench>[] = [
  { title: 'workspace', value: ({ workspace }) => workspace, show: ({ workspace }) => workspace ?? 'host' },
  { title: 'model', value: ({ model }) => model, show: ({ model }) => model ?? 'all' },
  { title: 'ended', value: ({ reason }) => reason },
];
