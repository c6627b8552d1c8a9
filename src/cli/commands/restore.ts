import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import type { RestoreOutcome } from '../../shared/restore.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { localName } from '../hosts/host-file.ts';
import { meantHost } from '../hosts/hosts.ts';
import { readDaemonFile } from '../hosts/local-daemon.ts';
import { example } from '../manifest/options.ts';
import { progressBar } from '../output/progress.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';

export const restoreCommand = (context: Context) =>
  new Command('restore')
    .argument('<file>', 'a backup')
    .option('--data <folder>', 'the data folder, where it is not the usual one')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway stop && gateway restore backup.db --yes'))
    .action((file, options) => restoreAndTell(context, file, options));

interface RestoreFlags {
  data?: string;
  yes?: true;
}

type Restored = Exclude<RestoreOutcome, { problem: string }>;

/** Puts a backup in the place of this machine's data; what was there is kept. */
async function restoreAndTell(context: Context, file: string, { data, yes }: RestoreFlags): Promise<void> {
  const running = data === undefined ? readDaemonFile(context) : undefined;
  if (running !== undefined) {
    throw new CliError(`The daemon runs (process ${running.pid}).`, {
      exit: exitCodes.failed,
      next: `Stop it first: gateway stop${meantHost(undefined, context).said === localName ? '' : ` --host ${localName}`}`,
    });
  }
  await confirm(context, `Put ${file} in the place of the data?`, { yes });
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
      `Provider keys are sealed under master key ${keyId} (${store}); where it is missing: gateway vault unlock --master-key`,
    );
  }
  context.out.note('Restored. Go on with: gateway serve');
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
