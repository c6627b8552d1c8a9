import { Command } from '@commander-js/extra-typings';
import type { ExplainedSetting } from '../../../shared/daemon-module.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { getConfiguration } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { isLocalDown } from '../../hosts/hosts.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';
import { faultsTold, fileOption, placeOf } from './place.ts';

export const getConfigCommand = (context: Context) =>
  new Command('get')
    .argument('[name]', 'a setting, as in listen.port, or a group of them, as in listen')
    .option(...fileOption)
    .addHelpText('after', example('gateway config get listen.port'))
    .action((name, { config }) => show(context, name, config));

type Row = ExplainedSetting & { waits_for_restart?: boolean };

/** What the daemon runs with; where none runs, what one would start with. */
async function show(context: Context, name: string | undefined, file: string | undefined): Promise<void> {
  const all = await settingsOf(context, file);
  const wanted =
    name === undefined ? all : all.filter((one) => one.name === name || one.name.startsWith(`${name}.`));
  if (wanted.length === 0) {
    throw new CliError(`There is no setting ${name}.`, {
      exit: exitCodes.usage,
      next: 'All of them: gateway config get',
    });
  }
  const [one] = wanted;
  if (one?.name === name && one && !context.io.stdout.isTty && !context.out.wantsJson()) {
    return context.out.text(`${textOf(one.value)}\n`);
  }
  await context.out.table(wanted, columns, { empty: '' });
  for (const row of wanted) {
    if (row.waits_for_restart) {
      context.out.note(`${row.name}: the file says something else by now; a restart takes it in.`);
    }
  }
}

async function settingsOf(context: Context, file: string | undefined): Promise<Row[]> {
  if (file === undefined && !isLocalDown(context)) {
    return (await context.client().call(getConfiguration, {})).settings;
  }
  const tools = await (await context.daemon()).loadConfigTools();
  const { settings, faults } = await tools.explain(placeOf(context, file));
  if (faults.length > 0) throw faultsTold(faults, 'A daemon would not start with this.');
  return settings.map(({ name, value, source, place }) => ({ name, value, source, place }));
}

function textOf(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const columns: Column<Row>[] = [
  { title: 'name', value: ({ name }) => name, essential: true },
  { title: 'value', value: ({ value }) => textOf(value) },
  {
    title: 'source',
    value: ({ source }) => source,
    style: ({ source }) => (source === 'default' ? 'dim' : undefined),
  },
  { title: 'place', value: ({ place }) => place },
];
