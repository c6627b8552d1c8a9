import { Command } from '@commander-js/extra-typings';
import type { ReloadReport } from '../../shared/contract/configuration.ts';
import { reloadConfiguration } from '../../shared/endpoints.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const reloadCommand = (context: Context) =>
  new Command('reload').addHelpText('after', example('gateway reload')).action(async () => {
    const report = await context.client().call(reloadConfiguration, {});
    if (context.out.wantsJson()) return context.out.document(report);
    await context.out.table(rowsOf(report), columns, { empty: 'No changes.' });
    for (const { setting, message } of report.warnings) context.out.warn(`Warning: ${setting}: ${message}`);
    if (report.waiting.length > 0)
      context.out.note('Restart to apply the rest: gateway stop, then gateway serve');
  });

interface Row {
  name: string;
  state: 'changed' | 'waits for a restart';
}

function rowsOf({ changed, waiting }: ReloadReport): Row[] {
  return [
    ...changed.map((name): Row => ({ name, state: 'changed' })),
    ...waiting.map((name): Row => ({ name, state: 'waits for a restart' })),
  ];
}

const columns: Column<Row>[] = [
  { title: 'name', value: ({ name }) => name, essential: true },
  { title: 'state', value: ({ state }) => state },
];
