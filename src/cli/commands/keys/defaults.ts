import { Command, Option } from '@commander-js/extra-typings';
import type { KeyDefaults, KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { setKeyDefaults } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';
import { type DefaultFlags, defaultFlags, defaultsChange } from './default-flags.ts';
import { keyNamed } from './key-named.ts';

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
