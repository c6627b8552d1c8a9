import { existsSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { shellQuoted } from '../../shared/samples/literals.ts';
import type { RestoreOutcome } from '../../shared/storage/restore.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { localName } from '../hosts/host-file.ts';
import { selectedHost } from '../hosts/hosts.ts';
import { readDaemonFile } from '../hosts/local-daemon.ts';
import { example, yesOption } from '../options.ts';
import { progressBar } from '../output/progress.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';

export const restoreCommand = (context: Context) =>
  new Command('restore')
    .argument('<file>', 'the backup file')
    .option('--data <folder>', "the data folder (default: the daemon's)")
    .addOption(yesOption())
    .addHelpText('after', example('gateway stop && gateway restore backup.db --yes'))
    .action((file, options) => restoreData(context, file, options));

interface RestoreFlags {
  data?: string;
  yes?: true;
}

type Restored = Exclude<RestoreOutcome, { problem: string }>;

/** Replaces this machine's data with a backup, keeping the old data. */
async function restoreData(context: Context, file: string, { data, yes }: RestoreFlags): Promise<void> {
  if (!existsSync(file)) {
    throw new CliError(`The file ${file} does not exist.`, { exit: exitCodes.failed });
  }
  const running = data === undefined ? readDaemonFile(context) : undefined;
  if (running !== undefined) {
    throw new CliError(`The daemon is running (process ${running.pid}).`, {
      exit: exitCodes.failed,
      next: `Stop it first: gateway stop${selectedHost(undefined, context).name === localName ? '' : ` --host ${localName}`}`,
    });
  }
  await confirm(context, `Replace the data with ${file}?`, { yes });
  const { restore } = await context.daemon();
  const bar = progressBar(context.io);
  const outcome = await restore({
    backup: file,
    ...(data !== undefined && { dataFolder: data }),
    env: context.env,
    onProgress: ({ step, doneBytes, totalBytes }) =>
      step === 'copying' ? bar.show('Copying', doneBytes, totalBytes) : bar.wait('Checking', totalBytes),
  });
  bar.stop();
  if ('problem' in outcome) throw new CliError(outcome.problem, { exit: outcome.exit });
  const { masters } = outcome;
  await context.out.record(viewOf(outcome), columns);
  for (const { keyId, store } of masters) {
    context.out.note(
      `Provider keys are encrypted with master key ${keyId} (${store}). If it is missing here: gateway vault unlock --master-key`,
    );
  }
  if (outcome.hasNodeWallets) {
    context.out.note(
      'Wallets of a Lightning node pay nothing until it has explained what happened since the backup: gateway wallet reconcile',
    );
  }
  context.out.note(`Restored. ${nextStep(outcome, data)}`);
}

function nextStep({ usesServer, dataFolder }: Restored, given: string | undefined): string {
  const folder = shellQuoted(dataFolder);
  if (usesServer) return `Copy it to an empty database with: gateway storage copy --from ${folder} --to FILE`;
  return `Start the daemon with: gateway serve${given === undefined ? '' : ` --data ${folder}`}`;
}

function viewOf({ dataFolder, madeAt, schemaVersion, aside, configWritten, masters }: Restored) {
  return {
    data_dir: dataFolder,
    made_at: madeAt,
    schema_version: schemaVersion,
    old_data: aside,
    config_written: configWritten,
    master_keys: masters.map(({ keyId, store }) => ({ key_id: keyId, kept_in: store })),
  };
}

const columns: Column<ReturnType<typeof viewOf>>[] = [
  { title: 'data_dir', value: ({ data_dir }) => data_dir, essential: true },
  { title: 'made_at', label: 'backup made', value: ({ made_at }) => made_at },
  { title: 'schema_version', value: ({ schema_version }) => schema_version },
  { title: 'old_data', value: ({ old_data }) => old_data },
  { title: 'config_written', value: ({ config_written }) => config_written },
];
