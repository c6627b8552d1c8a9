import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import type { Client } from '../../shared/client.ts';
import type { ConfigWarning } from '../../shared/contract/configuration.ts';
import type { ConfigFault, ConfigLocation, ExplainedSetting } from '../../shared/daemon-module.ts';
import { getConfiguration, getModel, reloadConfiguration } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { checkIsThisMachine, findThisMachine, isLocalDown } from '../hosts/hosts.ts';
import { readDaemonFile } from '../hosts/local-daemon.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const getConfigCommand = (context: Context) =>
  new Command('get')
    .argument('[setting]', 'a setting such as listen.port, or a group such as listen')
    .option(...fileOption)
    .addHelpText('after', example('gateway config get listen.port'))
    .action((name, { config }) => show(context, name, config));

type Row = ExplainedSetting & { waits_for_restart?: boolean };

/** Shows the running daemon's settings, or those it would start with. */
async function show(context: Context, name: string | undefined, file: string | undefined): Promise<void> {
  const all = await settingsOf(context, file);
  const wanted =
    name === undefined ? all : all.filter((one) => one.name === name || one.name.startsWith(`${name}.`));
  if (wanted.length === 0) {
    throw usageError(
      `There is no setting named ${JSON.stringify(name)}.`,
      'List all settings: gateway config get',
    );
  }
  const [one] = wanted;
  if (one?.name === name && one && !context.io.stdout.isTty && !context.out.wantsJson()) {
    return context.out.text(`${textOf(one.value)}\n`);
  }
  await context.out.table(wanted, columns, { empty: '' });
  for (const row of wanted) {
    if (row.waits_for_restart) {
      context.out.note(`${row.name}: the file has changed; restart the daemon to apply it.`);
    }
  }
}

async function settingsOf(context: Context, file: string | undefined): Promise<Row[]> {
  if (file === undefined && !isLocalDown(context)) {
    const client = context.host().isLocal ? context.clientFor(findThisMachine(context)) : context.client();
    return (await client.call(getConfiguration, {})).settings;
  }
  return await fileSettings(context, file);
}

/** The settings that a daemon would start with: of this file, or the default one. */
export async function fileSettings(context: Context, file: string | undefined): Promise<ExplainedSetting[]> {
  const tools = await (await context.daemon()).loadConfigTools();
  const { settings, faults } = await tools.explain(configLocation(context, file));
  if (faults.length > 0) throw configError(faults, 'The daemon cannot start with this configuration.');
  return settings.map(({ name, value, source, place }) => ({ name, value, source, place }));
}

/** The given file, or that of this machine's running daemon; undefined for the default one, which need not be there. */
export async function configFile(context: Context, given: string | undefined): Promise<string | undefined> {
  if (given !== undefined) return given;
  checkIsThisMachine(context, 'The configuration');
  const used = (await runningDaemon(context))?.file;
  const tools = await (await context.daemon()).loadConfigTools();
  return used === resolve(tools.path(configLocation(context, undefined))) ? undefined : used;
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

export const setConfigCommand = (context: Context) =>
  new Command('set')
    .argument('<setting>', 'a setting such as listen.port or aliases.fast')
    .argument('<value>', 'text, a number, true or false; or a list or map as JSON or YAML')
    .option(...fileOption)
    .option('--force', 'set a model that the daemon does not know')
    .addHelpText('after', example('gateway config set aliases.fast openai/gpt-5-mini'))
    .action((name, value, { config, force }) => changeSetting(context, { name, value, file: config, force }));

export const unsetConfigCommand = (context: Context) =>
  new Command('unset')
    .argument('<setting>', 'a setting')
    .option(...fileOption)
    .addHelpText('after', example('gateway config unset aliases.fast'))
    .action((name, { config }) => changeSetting(context, { name, value: undefined, file: config }));

interface Change {
  name: string;
  value: string | undefined;
  file: string | undefined;
  force?: true | undefined;
}

/** Writes a setting to the given file, or that of the running daemon, which reloads it. */
export async function changeSetting(
  context: Context,
  { name, value, file: given, force }: Change,
): Promise<void> {
  const tools = await (await context.daemon()).loadConfigTools();
  if (given === undefined) checkIsThisMachine(context, 'The configuration');
  const running = await runningDaemon(context);
  const place = configLocation(context, given ?? running?.file);
  const before = await tools.warnings(place);
  const path = tools.path(place);
  const isInUse = running !== undefined && resolve(path) === running.file;
  const knows = async (model: string) => (isInUse ? running.knows(model) : undefined);
  const outcome = await tools.set(place, { name, value, isKnownModel: force ? undefined : knows });
  if ('faults' in outcome) throw configError(outcome.faults, 'Nothing was written.');
  const reloaded = outcome.isChanged && isInUse ? await running.reload(name) : undefined;
  const isNew = (warning: ConfigWarning) =>
    !before.some(({ setting, model }) => setting === warning.setting && model === warning.model);
  const warnings = (reloaded?.warnings ?? (await tools.warnings(place))).filter(isNew);
  if (context.out.wantsJson())
    await context.out.document({ file: path, changed: outcome.isChanged, warnings });
  context.out.note(
    outcome.isChanged ? `Written to ${path}.${reloaded?.sentence ?? ''}` : `${path} already says so.`,
  );
  if (running !== undefined && !isInUse)
    context.out.note(`The running daemon uses another file: ${running.file}`);
  for (const { setting, message } of warnings) context.out.warn(`Warning: ${setting}: ${message}`);
}

interface Reloaded {
  /** The effect of the change. */
  sentence: string;
  warnings?: ConfigWarning[];
}

export interface RunningDaemon {
  /** The configuration file that it was started with. */
  file: string;
  /** Whether it knows a model by this name; undefined if it did not answer. */
  knows(model: string): Promise<boolean | undefined>;
  /** Applies the file, so that the next command sees the change of the setting. */
  reload(name: string): Promise<Reloaded>;
}

/** The local daemon, asked with the login of this machine; undefined if none is running or answering. */
export async function runningDaemon(context: Context): Promise<RunningDaemon | undefined> {
  if (readDaemonFile(context) === undefined) return undefined;
  const client = context.clientFor(findThisMachine(context));
  try {
    const { file } = await client.call(getConfiguration, {});
    return {
      file,
      knows: (model) =>
        client.call(getModel, { params: { model } }).then(
          () => true,
          (error) => (error instanceof ReceivedError && error.status === 404 ? false : undefined),
        ),
      reload: (name) => reload(client, name),
    };
  } catch {
    return undefined;
  }
}

async function reload(client: Client, name: string): Promise<Reloaded> {
  try {
    const { waiting, warnings } = await client.call(reloadConfiguration, {});
    const waits = waiting.some(
      (one) => name === one || name.startsWith(`${one}.`) || one.startsWith(`${name}.`),
    );
    return {
      sentence: waits
        ? ' Restart the daemon to apply it: gateway stop, then gateway serve'
        : ' The daemon has reloaded it.',
      warnings,
    };
  } catch {
    return { sentence: ' The daemon did not reload it: gateway reload' };
  }
}

export const configPathCommand = (context: Context) =>
  new Command('path').addHelpText('after', example('$EDITOR "$(gateway config path)"')).action(async () => {
    const tools = await (await context.daemon()).loadConfigTools();
    const file = tools.path(configLocation(context, await configFile(context, undefined)));
    if (context.out.wantsJson()) return context.out.document({ file });
    context.out.text(`${file}\n`);
  });

export const configSchemaCommand = (context: Context) =>
  new Command('schema')
    .addHelpText('after', example('gateway config schema > ~/.config/gateway/config.schema.json'))
    .action(async () => {
      const tools = await (await context.daemon()).loadConfigTools();
      const schema = tools.schema();
      if (context.out.wantsJson()) return context.out.document(schema);
      context.io.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    });

export const importConfigCommand = (context: Context) =>
  new Command('import')
    .argument('<file>', 'the config.yaml of a LiteLLM proxy')
    .addHelpText('after', example('gateway config import litellm.yaml > "$(gateway config path)"'))
    .action(async (file) => {
      const tools = await (await context.daemon()).loadConfigTools();
      const imported = tools.importLiteLlm(await textOfFile(file), file, context.env);
      if ('faults' in imported) throw configError(imported.faults, 'Nothing was imported.');
      if (context.out.wantsJson()) return context.out.document(imported);
      context.out.text(imported.text);
      for (const note of imported.notes) context.out.note(note);
      if (imported.variables.length > 0)
        context.out.note(
          `Keys are read from the environment of gateway serve: ${imported.variables.join(', ')}.`,
        );
    });

async function textOfFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : message;
    throw new CliError(`${file} cannot be read: ${reason}.`, { exit: exitCodes.failed });
  }
}

/** Locates this machine's configuration. */
export function configLocation({ env, platform, home }: Context, file: string | undefined): ConfigLocation {
  return { ...(file !== undefined && { file }), env, platform, home };
}

export function configError(faults: readonly ConfigFault[], next: string): CliError {
  const lines = faults.map(({ place, message }) => `${place}: ${message}`);
  return new CliError(lines.join('\n'), { exit: exitCodes.usage, next });
}

export const fileOption = [
  '--config <file>',
  'the configuration file (default: the one in the config folder)',
] as const;
