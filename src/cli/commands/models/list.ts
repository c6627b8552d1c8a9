import { Command } from '@commander-js/extra-typings';
import { listModels } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { availableProviders, modelColumns, priceUnit } from './model-columns.ts';

export const listModelsCommand = (context: Context) =>
  new Command('list')
    .option('--match <text>', 'only models whose id holds this text')
    .option('--all', 'also models that no provider can answer now')
    .addHelpText('after', example('gateway models list --match gpt --json=id'))
    .action((options) => listModelsAndShow(context, options));

interface Filter {
  match?: string | undefined;
  all?: true | undefined;
}

async function listModelsAndShow(context: Context, { match = '', all }: Filter): Promise<void> {
  const { data } = await context.client().call(listModels, {});
  const matching = data.filter((model) => model.id.toLowerCase().includes(match.toLowerCase()));
  const models = all ? matching : matching.filter((model) => availableProviders(model) !== '');
  await context.out.table(models, modelColumns, { empty: 'No models.' });
  if (!context.io.stdout.isTty || context.out.wantsJson()) return;
  const hidden = matching.length - models.length;
  if (models.length > 0) context.out.note(priceUnit);
  if (hidden > 0) context.out.note(`${hidden} more have no provider now: gateway models list --all`);
}
