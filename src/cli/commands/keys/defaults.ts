import { Command, Option } from '@commander-js/extra-typings';
import type { CacheMode, KeyDefaults, KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { setKeyDefaults } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { example } from '../../manifest/options.ts';
import type { Column } from '../../output/table.ts';
import { keyNamed } from './resolve-key.ts';

const names = ['cache', 'store'] as const satisfies readonly (keyof KeyDefaultsChange)[];

export const keyDefaultsCommand = (context: Context) =>
  defaultFlags(
    new Command('defaults')
      .argument('<key>', 'the key: its id, key_…, or its name')
      .option('--workspace <workspace>', 'the workspace that owns the key', 'me'),
  )
    .addOption(new Option('--clear <name...>', 'what the host shall decide again').choices(names))
    .addHelpText('after', example('gateway keys defaults key_01jd… --cache read-write --store no'))
    .action((key, { workspace, clear = [], ...flags }) =>
      changeDefaults(context, { workspace, key, flags, clear }),
    );

interface Wish {
  workspace: string;
  key: string;
  flags: DefaultFlags;
  clear: (typeof names)[number][];
}

/** Sends what was named and leaves the rest as it is. */
async function changeDefaults(context: Context, { workspace, key, flags, clear }: Wish): Promise<void> {
  const cleared = Object.fromEntries(clear.map((name) => [name, null]));
  const body: KeyDefaultsChange = { ...defaultsChange(flags), ...cleared };
  if (Object.keys(body).length === 0) {
    throw new CliError('No default was named.', {
      exit: exitCodes.usage,
      next: `Name one: --cache, --store or --clear. Those that hold are in: gateway keys show ${key}`,
    });
  }
  const params = { workspace, key: await keyNamed(context, { workspace, key }) };
  const defaults = await context.client().call(setKeyDefaults, { params, body });
  await context.out.record(defaults, columns);
  context.out.note('It counts from the next call on.');
}

const byHost = 'as the host has it';

const columns: Column<KeyDefaults>[] = [
  { title: 'cache', value: (it) => it.cache, show: (it) => it.cache ?? byHost },
  {
    title: 'store',
    value: (it) => it.store,
    show: ({ store }) => (store === null ? byHost : store ? 'yes' : 'no'),
  },
];

/** As the contract has them; loading it would load its schemas too. */
const cacheModes = ['off', 'read-only', 'read-write'] as const satisfies readonly CacheMode[];

/** What the flags of `defaultFlags` say. */
export interface DefaultFlags {
  cache?: CacheMode | undefined;
  store?: 'yes' | 'no' | undefined;
}

/** Adds what holds for a key's calls that do not say: the same flags wherever that is set. */
export function defaultFlags<A extends unknown[], O extends Record<string, unknown>>(command: Command<A, O>) {
  return command
    .addOption(
      new Option('--cache <mode>', 'what its calls that do not say have of the response cache').choices(
        cacheModes,
      ),
    )
    .addOption(
      new Option('--store <whether>', 'whether responses of its calls that do not say are stored').choices([
        'yes',
        'no',
      ] as const),
    );
}

/** What is sent for the flags that were given. */
export function defaultsChange({ cache, store }: DefaultFlags): KeyDefaultsChange {
  return { ...(cache !== undefined && { cache }), ...(store !== undefined && { store: store === 'yes' }) };
}

/** What holds for a key's calls that do not say, on one line; empty where the host decides. */
export function defaultsText({ cache, store }: KeyDefaults): string {
  const parts: string[] = [];
  if (cache !== null) parts.push(`cache ${cache}`);
  if (store !== null) parts.push(store ? 'stored' : 'not stored');
  return parts.join(', ');
}
