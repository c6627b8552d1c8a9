import { Command } from '@commander-js/extra-typings';
import type { CopyStorageOutcome } from '../../shared/storage/copy-storage.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example } from '../options.ts';
import { progressBar } from '../output/progress.ts';
import type { Column } from '../output/table.ts';

export const copyStorageCommand = (context: Context) =>
  new Command('copy')
    .requiredOption(
      '--to <place>',
      'a data folder, a postgres:// address without a password, or a file with an address',
    )
    .option('--from <place>', 'the same (default: the configured database)')
    .addHelpText('after', example('gateway stop && gateway storage copy --to ~/.config/gateway/storage-url'))
    .action((options) => copyStorage(context, options));

type Copied = Exclude<CopyStorageOutcome, { problem: string }>;

/** Copies the database while no daemon uses it. */
async function copyStorage(context: Context, { from, to }: { from?: string; to: string }): Promise<void> {
  const { copyStorage: copy } = await context.daemon();
  const bar = progressBar(context.io);
  const outcome = await copy({
    from,
    to,
    env: context.env,
    onProgress: ({ step, table, doneRows, totalRows }) =>
      bar.show(
        `${step === 'copying' ? 'Copying' : 'Comparing'} ${table}`,
        doneRows,
        totalRows,
        `${count(totalRows)} rows`,
      ),
  });
  bar.stop();
  if ('problem' in outcome) throw new CliError(outcome.problem, { exit: outcome.exit });
  await context.out.record(viewOf(outcome), columns);
  for (const path of outcome.beside ?? []) context.out.note(`Not in the database, and not copied: ${path}`);
  if (outcome.lacksDataKey) {
    context.out.note(
      `Before a daemon starts in ${outcome.to}, put data-key there: it is in the data folder of the daemon that used ${outcome.from}.`,
    );
  }
}

function viewOf({ from, to, schemaVersion, tables, rows, digest, beside }: Copied) {
  return { from, to, schema_version: schemaVersion, tables, rows, sha256: digest, not_copied: beside ?? [] };
}

const columns: Column<ReturnType<typeof viewOf>>[] = [
  { title: 'from', value: ({ from }) => from },
  { title: 'to', value: ({ to }) => to, essential: true },
  { title: 'tables', value: ({ tables }) => tables },
  { title: 'rows', value: ({ rows }) => rows },
  { title: 'schema_version', value: ({ schema_version }) => schema_version },
  { title: 'sha256', value: ({ sha256 }) => sha256 },
];
