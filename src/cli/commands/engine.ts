import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, Option } from '@commander-js/extra-typings';
import { engineGpus, engineLibrary, enginePackages } from '../../shared/constants/engine-library.ts';
import type { EngineModelCheck, EngineModelView } from '../../shared/contract/engine.ts';
import {
  addEngineModel,
  checkEngineModel,
  listEngineModels,
  removeEngineModel,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { foldersOf } from '../../shared/folders.ts';
import { sizeText } from '../../shared/text/size-text.ts';
import { duration } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { readDaemonFile } from '../hosts/local-daemon.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const installEngineCommand = (context: Context) =>
  new Command('install')
    .description(
      'Installs node-llama-cpp and its build for this machine with npm, about 85 MB, into the data folder. A running daemon finds it.',
    )
    .addOption(new Option('--gpu <kind>', 'also install the build for a graphics card').choices(engineGpus))
    .addHelpText('after', example('gateway engine install'))
    .action(async ({ gpu }) => {
      const packages = enginePackages({ platform: context.platform, arch: process.arch }, gpu);
      if (packages === undefined) {
        const machine = `${context.platform} on ${process.arch}${gpu ? ` with ${gpu}` : ''}`;
        throw new CliError(`${engineLibrary.name} has no build for ${machine}.`, { exit: exitCodes.failed });
      }
      const data = readDaemonFile(context)?.data_dir ?? foldersOf(context).data;
      const folder = join(data, engineLibrary.folder);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await npmInstall(context, folder, packages);
      if (context.out.wantsJson())
        return context.out.document({ folder, version: engineLibrary.version, packages });
      context.out.note(`Installed ${engineLibrary.name} ${engineLibrary.version} into ${folder}.`);
      context.out.note('Add a model: gateway engine add FILE.gguf');
    });

/** Without the other platforms' builds, which are optional dependencies, and without scripts, which would compile. */
async function npmInstall(context: Context, folder: string, packages: readonly string[]): Promise<void> {
  const options = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  const isWindows = context.platform === 'win32';
  const child = spawn(
    isWindows ? 'npm.cmd' : 'npm',
    ['install', '--prefix', isWindows ? `"${folder}"` : folder, '--loglevel=error', ...options, ...packages],
    { stdio: ['ignore', 'ignore', 'inherit'], env: context.env, shell: isWindows },
  );
  const end = await new Promise<string | number | null>((settle) => {
    child.once('error', ({ message }) => settle(message));
    child.once('close', settle);
  });
  if (end === 0) return;
  throw new CliError(
    `npm could not install ${engineLibrary.name}: ${typeof end === 'string' ? end : `exit code ${end}`}.`,
    { exit: exitCodes.failed, next: 'npm comes with Node, and must reach its registry.' },
  );
}

export const addEngineCommand = (context: Context) =>
  new Command('add')
    .description('Loads the file and asks it a question; it is used where it is. Its model is local/NAME.')
    .argument('<file>', 'a model in the GGUF format, on the host of the daemon')
    .option('--name <name>', 'lowercase letters, digits, . _ and - (default: from the file)')
    .addOption(
      new Option(
        '--as <engine>',
        'the decision model that it answers as (default: engine, if there is none)',
      ).choices(['engine', 'engine-flash'] as const),
    )
    .addHelpText('after', example('gateway engine add qwen3-4b-q4.gguf --as engine'))
    .action(async (file, { name, as }) => {
      const path = context.host().isLocal ? resolve(file) : file;
      if (context.host().isLocal && !existsSync(path))
        throw new CliError(`There is no file ${path}.`, { exit: exitCodes.usage });
      const added = await context.client().call(addEngineModel, {
        body: { path, ...(name !== undefined && { name }), ...(as && { as }) },
      });
      await context.out.record(added, columns);
    });

export const listEngineCommand = (context: Context) =>
  new Command('list')
    .addHelpText('after', example('gateway engine list --json=model,as,bytes'))
    .action(async () => {
      const { data } = await context.client().call(listEngineModels, {});
      await context.out.table(data, columns, {
        empty: 'There are no local models. Add one: gateway engine add FILE.gguf',
      });
      for (const reason of new Set(data.flatMap(({ reason }) => reason ?? []))) context.out.warn(reason);
    });

export const checkEngineCommand = (context: Context) =>
  new Command('check')
    .description('Loads it, asks it a question, and compares its file with the one that was added.')
    .argument('<local-model>', 'the name of a local model')
    .addHelpText('after', example('gateway engine check qwen3-4b-q4'))
    .action(async (name) => {
      const checked = await context.client().call(checkEngineModel, { params: { name } });
      await context.out.record(checked, checkColumns);
      if (checked.problem === null) return;
      context.out.warn(checked.problem);
      context.exit = exitCodes.tryLater;
    });

export const removeEngineCommand = (context: Context) =>
  new Command('remove')
    .description('Its running calls fail. The file stays.')
    .argument('<local-model>', 'the name of a local model')
    .addHelpText('after', example('gateway engine remove qwen3-4b-q4'))
    .action(async (name) => {
      const removed = await context.client().call(removeEngineModel, { params: { name } });
      return context.out.done(removed, `Removed local/${name}. Its file stays.`);
    });

const columns: Column<EngineModelView>[] = [
  { title: 'model', value: ({ model }) => model, essential: true },
  { title: 'as', value: (view) => view.as, show: (view) => view.as ?? '–' },
  { title: 'bytes', label: 'size', value: ({ bytes }) => bytes, show: ({ bytes }) => sizeText(bytes) },
  { title: 'architecture', value: ({ architecture }) => architecture },
  {
    title: 'pid',
    label: 'process',
    value: ({ pid }) => pid,
    show: ({ pid }) => (pid === null ? 'not in memory' : String(pid)),
  },
  { title: 'path', value: ({ path }) => path },
];

const checkColumns: Column<EngineModelCheck>[] = [
  { title: 'model', value: ({ model }) => model, essential: true },
  { title: 'problem', value: ({ problem }) => problem, show: ({ problem }) => problem ?? 'none' },
  {
    title: 'load_ms',
    label: 'loading',
    value: (check) => check.load_ms,
    show: (check) => duration(check.load_ms),
  },
  {
    title: 'decision_ms',
    label: 'a decision',
    value: (check) => check.decision_ms,
    show: (check) => duration(check.decision_ms),
  },
  { title: 'sha256', value: ({ sha256 }) => sha256 },
];
