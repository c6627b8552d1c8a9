import { Command } from '@commander-js/extra-typings';
import type { RefreshedProvider } from '../../../shared/contract/models.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { refreshModels } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';

const columns: Column<RefreshedProvider>[] = [
  { title: 'provider', value: (row) => row.provider },
  { title: 'models', value: (row) => row.models, align: 'right' },
  { title: 'before', value: (row) => row.models_before, align: 'right' },
  { title: 'state', value: (row) => row.error ?? 'ok', style: (row) => (row.error ? 'red' : 'green') },
];

export const refreshModelsCommand = (context: Context) =>
  new Command('refresh')
    .addHelpText('after', example('gateway models refresh'))
    .action(() => refreshAndShow(context));

async function refreshAndShow(context: Context): Promise<void> {
  const { data } = await context.client().call(refreshModels, {});
  await context.out.table(data, columns, { empty: 'No provider can be asked: none has a key.' });
  if (data.some(({ error }) => error !== null)) context.exit = exitCodes.partlyDone;
}
