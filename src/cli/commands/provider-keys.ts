import { Argument, Command } from '@commander-js/extra-typings';
import type { ProviderKey, ProviderKeyCheck } from '../../shared/contract/provider-keys.ts';
import {
  checkNamedProviderKey,
  checkProviderKey,
  deleteNamedProviderKey,
  deleteProviderKey,
  listProviderKeys,
  putNamedProviderKey,
  putProviderKey,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { knownProviders } from '../../shared/known-providers.ts';
import { bareKey } from '../../shared/text/bare-value.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { resolveWorkspace } from '../names/resolve.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { askSecret, confirm } from '../terminal/prompts.ts';

export const setProviderKeyCommand = (context: Context) =>
  new Command('set')
    .addArgument(providerArgument())
    .option('--workspace <workspace>', 'the workspace whose calls may use the key', 'me')
    .option(...nameOption)
    .option('--from-env <name>', 'the environment variable with the key')
    .addHelpText('after', example('gateway provider-keys set openai --from-env OPENAI_API_KEY'))
    .action(async (provider, { workspace, name, fromEnv }) => {
      const key = bareKey(await askSecret(context, { prompt: `Key for ${provider}`, fromEnv }));
      const params = { workspace: await resolveWorkspace(context, workspace), provider };
      const body = { key };
      const client = context.client();
      const stored = await (name === undefined
        ? client.call(putProviderKey, { params, body })
        : client.call(putNamedProviderKey, { params: { ...params, name }, body }));
      const shown = providerKeyColumns(context.now());
      await context.out.record(stored, shown, { pipedRow: shown });
      context.out.note(
        `To check that ${provider} accepts it: gateway provider-keys check ${provider}${name === undefined ? '' : ` --name ${name}`}`,
      );
    });

export const listProviderKeysCommand = (context: Context) =>
  new Command('list')
    .option('--workspace <workspace>', 'the workspace that owns the keys', 'me')
    .addHelpText('after', example('gateway provider-keys list --json=provider,fingerprint'))
    .action(async ({ workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const { data } = await context.client().call(listProviderKeys, { params });
      const empty = 'No provider keys yet: gateway provider-keys set <provider>';
      await context.out.table(data, providerKeyColumns(context.now()), { empty });
    });

export const deleteProviderKeyCommand = (context: Context) =>
  new Command('delete')
    .addArgument(providerArgument())
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .option(...nameOption)
    .addOption(yesOption())
    .addHelpText('after', example('gateway provider-keys delete openai --yes'))
    .action(async (provider, { workspace, name, yes }) => {
      const client = context.client();
      const params = { workspace: await resolveWorkspace(context, workspace), provider };
      // The daemon deletes whatever is there; only a person who names the wrong provider wants to know that nothing was.
      const { data } = await client.call(listProviderKeys, { params });
      const shown = name === undefined ? `"${provider}"` : `"${provider}" named "${name}"`;
      // Older daemons have no names.
      if (!data.some((key) => key.provider === provider && (key.name ?? undefined) === name)) {
        throw new CliError(`There is no key for ${shown}.`, {
          exit: exitCodes.failed,
          next: 'List what exists: gateway provider-keys list',
        });
      }
      await confirm(context, `Delete the key for ${shown}? Calls that need it will fail.`, {
        yes,
      });
      const deleted = await (name === undefined
        ? client.call(deleteProviderKey, { params })
        : client.call(deleteNamedProviderKey, { params: { ...params, name } }));
      return context.out.done(deleted, `Deleted the key for ${shown}.`);
    });

export const checkProviderKeyCommand = (context: Context) =>
  new Command('check')
    .addArgument(providerArgument())
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .option(...nameOption)
    .addHelpText('after', example('gateway provider-keys check openai && echo good'))
    .action(async (provider, { workspace, name }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), provider };
      const client = context.client();
      const check = await (name === undefined
        ? client.call(checkProviderKey, { params })
        : client.call(checkNamedProviderKey, { params: { ...params, name } }));
      await context.out.record(check, checkColumns, { pipedRow: checkColumns });
      context.exit = exitOf[check.result];
    });

const exitOf = {
  good: exitCodes.done,
  refused: exitCodes.refused,
  unreachable: exitCodes.tryLater,
} as const;

const colours = { good: 'green', refused: 'red', unreachable: 'yellow' } as const;

const checkColumns: Column<ProviderKeyCheck>[] = [
  { title: 'provider', value: (check) => check.provider },
  { title: 'result', value: (check) => check.result, style: (check) => colours[check.result] },
  { title: 'message', value: (check) => check.message },
];

const providerKeyColumns = (now: number): Column<ProviderKey>[] => [
  { title: 'provider', value: (key) => key.provider },
  { title: 'fingerprint', value: (key) => key.fingerprint },
  { title: 'added', value: (key) => key.added_at, show: (key) => ago(key.added_at, now), isSpare: true },
  { title: 'updated', value: (key) => key.updated_at, show: (key) => ago(key.updated_at, now) },
  { title: 'name', value: (key) => key.name, show: (key) => key.name ?? '–' },
];

const nameOption = ['--name <name>', 'a further key for the same provider'] as const;

const providerArgument = () => new Argument('<provider>', 'the provider').choices(knownProviders);
