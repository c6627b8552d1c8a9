import { existsSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { isObject } from '../../shared/json/json-object.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { changeSetting, configFile, fileOption, fileSettings } from './config.ts';

const namePattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export const addUpstreamCommand = (context: Context) =>
  new Command('add')
    .argument('<name>', 'a new name, such as acme: its models are acme/…', upstreamName)
    .argument('<url>', 'the address before /chat/completions, /responses or /messages', httpAddress)
    .option('--key-env <variable>', 'the environment variable of the daemon with the key')
    .addOption(
      new Option('--format <format>', 'the format of the server')
        .choices(['chat', 'responses', 'messages'])
        .default('chat'),
    )
    .option('--models <names>', 'the names of its models, separated by commas (default: any)')
    .option(...fileOption)
    .addHelpText(
      'after',
      example('gateway upstreams add acme https://llm.acme.example/v1 --key-env ACME_KEY'),
    )
    .action(async (name, url, { keyEnv, format, models, config }) => {
      // A key that is given instead is not repeated.
      if (keyEnv !== undefined && !/^[A-Za-z_]\w*$/.test(keyEnv))
        throw new CliError('--key-env must be the name of a variable, such as ACME_KEY, and not the key.', {
          exit: exitCodes.usage,
        });
      const file = await configFile(context, config);
      const known = config === undefined || existsSync(config) ? await upstreamsOf(context, file) : [];
      if (known.some((one) => one.name === name))
        throw usageError(
          `There is already an upstream ${name}.`,
          `Change it: gateway config set upstreams.${name}.base_url ${url}`,
        );
      const entry = {
        base_url: url,
        ...(keyEnv !== undefined && { key_env: keyEnv }),
        models: namesIn(models),
        ...(format !== 'chat' && { wire: format }),
      };
      await changeSetting(context, { name: `upstreams.${name}`, value: JSON.stringify(entry), file: config });
      if (keyEnv !== undefined && !context.env[keyEnv]?.trim())
        context.out.note(`The daemon reads the key from ${keyEnv} when it starts.`);
    });

export const listUpstreamsCommand = (context: Context) =>
  new Command('list')
    .option(...fileOption)
    .addHelpText('after', example('gateway upstreams list --json=name,base_url'))
    .action(async ({ config }) => {
      const rows = await upstreamsOf(context, await configFile(context, config));
      await context.out.table(rows, columns, {
        empty: 'No upstreams yet: gateway upstreams add <name> <url>',
      });
    });

export const removeUpstreamCommand = (context: Context) =>
  new Command('remove')
    .addArgument(new Argument('<upstream>', 'an upstream'))
    .addOption(yesOption())
    .option(...fileOption)
    .addHelpText('after', example('gateway upstreams remove acme --yes'))
    .action(async (name, { yes, config }) => {
      const known = await upstreamsOf(context, await configFile(context, config));
      if (!known.some((one) => one.name === name))
        throw new CliError(`There is no upstream ${JSON.stringify(name)}.`, {
          exit: exitCodes.failed,
          next: 'List what exists: gateway upstreams list',
        });
      await confirm(context, `Remove the upstream ${name}? Calls of its models will fail.`, { yes });
      await changeSetting(context, { name: `upstreams.${name}`, value: undefined, file: config });
    });

/** An entry of the configuration, whose headers are masked. */
interface UpstreamRow {
  name: string;
  base_url: string;
  format: string;
  models: string[];
  key_env: string | null;
}

/** For shell completion: of the default file, as asking a daemon takes longer. */
export async function upstreamNames(context: Context): Promise<string[]> {
  return (await upstreamsOf(context, undefined)).map(({ name }) => name);
}

/** The upstreams of a configuration file. */
async function upstreamsOf(context: Context, file: string | undefined): Promise<UpstreamRow[]> {
  const settings = await fileSettings(context, file);
  const written = settings.find(({ name }) => name === 'upstreams')?.value;
  return (Array.isArray(written) ? written : []).filter(isObject).map((one) => ({
    name: String(one.name),
    base_url: String(one.base_url),
    format: String(one.wire ?? 'chat'),
    models: Array.isArray(one.models) ? one.models.map(String) : [],
    key_env: typeof one.key_env === 'string' ? one.key_env : null,
  }));
}

const columns: Column<UpstreamRow>[] = [
  { title: 'name', value: ({ name }) => name, essential: true },
  { title: 'base_url', value: ({ base_url }) => base_url },
  { title: 'format', value: ({ format }) => format },
  {
    title: 'models',
    value: ({ models }) => models.join(','),
    show: ({ models }) => (models.includes('*') ? 'any' : models.join(', ')),
  },
  { title: 'key_env', value: ({ key_env }) => key_env, show: ({ key_env }) => key_env ?? '–' },
];

function namesIn(typed: string | undefined): string[] {
  const names = (typed ?? '*').split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

function upstreamName(text: string): string {
  if (namePattern.test(text)) return text;
  throw new InvalidArgumentError('It must consist of lowercase letters, digits, _ and -, at most 40.');
}

function httpAddress(text: string): string {
  const { protocol } = URL.canParse(text) ? new URL(text) : { protocol: '' };
  if (protocol === 'http:' || protocol === 'https:') return text;
  throw new InvalidArgumentError('It must be an address such as https://llm.acme.example/v1.');
}
