import { Command } from '@commander-js/extra-typings';
import { getModel } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { modelRecordColumns, priceUnit, providerColumns } from './model-columns.ts';

export const showModelCommand = (context: Context) =>
  new Command('show')
    .argument('<model>', 'its id, or any name that a call may use')
    .addHelpText('after', example('gateway models show sim/assistant'))
    .action((model) => showModel(context, model));

async function showModel(context: Context, name: string): Promise<void> {
  const model = await context.client().call(getModel, { params: { model: name } });
  await context.out.record(model, modelRecordColumns);
  if (context.out.wantsJson() || context.out.isQuiet() || !context.io.stdout.isTty) return;
  context.out.text('\n');
  await context.out.table(model.service.providers, providerColumns, { empty: 'No providers.' });
  if (model.service.providers.length > 0) context.out.note(priceUnit);
}
