import { Command, Option } from '@commander-js/extra-typings';
import { type CaptureLevel, captureLevels } from '../../../shared/constants/capture-levels.ts';
import type { CacheMode, KeyDefaults, KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';
import { setKeyDefaults } from '../../../shared/endpoints.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../failures/cli-error.ts';
import { resolveKey, resolveWorkspace } from '../../names/resolve.ts';
import { example } from '../../options.ts';
import type { Column } from '../../output/table.ts';

const names = ['cache', 'store', 'events', 'capture'] as const satisfies readonly (keyof KeyDefaultsChange)[];

export const keyDefaultsCommand = (context: Context) =>
  defaultFlags(
    new Command('defaults')
      .argument('<key>', "the key's id (key_…) or name")
      .option('--workspace <workspace>', 'the workspace that owns the key', 'me'),
  )
    .addOption(
      new Option('--clear <name...>', 'remove these defaults, so that the host decides').choices(names),
    )
    .addHelpText('after', example('gateway keys defaults key_01jd… --cache read-write --store no'))
    .action((key, { workspace, clear = [], ...flags }) =>
      changeDefaults(context, { workspace, key, flags, clear }),
    );

interface DefaultsCommand {
  workspace: string;
  key: string;
  flags: DefaultFlags;
  clear: (typeof names)[number][];
}

/** Changes only what was given. */
async function changeDefaults(
  context: Context,
  { workspace: given, key, flags, clear }: DefaultsCommand,
): Promise<void> {
  const cleared = Object.fromEntries(clear.map((name) => [name, null]));
  const body: KeyDefaultsChange = { ...defaultsChange(flags), ...cleared };
  if (Object.keys(body).length === 0) {
    throw usageError(
      'No default was given.',
      `Give --cache, --store, --events, --capture or --clear. To see the current defaults: gateway keys show ${key}`,
    );
  }
  const workspace = await resolveWorkspace(context, given);
  const params = { workspace, key: await resolveKey(context, { workspace, key }) };
  const defaults = await context.client().call(setKeyDefaults, { params, body });
  await context.out.record(defaults, columns);
  context.out.note('This applies from the next call.');
}

const byHost = 'set by host';

const columns: Column<KeyDefaults>[] = [
  { title: 'cache', value: (it) => it.cache, show: (it) => it.cache ?? byHost },
  {
    title: 'store',
    value: (it) => it.store,
    show: ({ store }) => (store === null ? byHost : store ? 'yes' : 'no'),
  },
  {
    title: 'events',
    value: (it) => it.events,
    show: ({ events }) => (events === null ? byHost : events ? 'on' : 'off'),
  },
  { title: 'capture', value: (it) => it.capture, show: (it) => it.capture ?? byHost },
];

/** Repeated here because loading the contract would load its schemas. */
const cacheModes = ['off', 'read-only', 'read-write'] as const satisfies readonly CacheMode[];

/** The values of the flags that `defaultFlags` adds. */
interface DefaultFlags {
  cache?: CacheMode | undefined;
  store?: 'yes' | 'no' | undefined;
  events?: 'on' | 'off' | undefined;
  capture?: CaptureLevel | undefined;
}

/** Adds the options that set a key's defaults. */
export function defaultFlags<A extends unknown[], O extends Record<string, unknown>>(command: Command<A, O>) {
  return command
    .addOption(
      new Option('--cache <mode>', 'how its calls use the response cache by default').choices(cacheModes),
    )
    .addOption(
      new Option('--store <whether>', 'whether responses are stored by default').choices([
        'yes',
        'no',
      ] as const),
    )
    .addOption(
      new Option(
        '--events <whether>',
        'whether streams carry `service:*` events by default; off for clients that reject unknown events',
      ).choices(['on', 'off'] as const),
    )
    .addOption(
      new Option('--capture <level>', 'the most that is kept of what its calls ask and are answered').choices(
        captureLevels,
      ),
    );
}

/** The change that the given flags describe. */
export function defaultsChange({ cache, store, events, capture }: DefaultFlags): KeyDefaultsChange {
  return {
    ...(cache !== undefined && { cache }),
    ...(store !== undefined && { store: store === 'yes' }),
    ...(events !== undefined && { events: events === 'on' }),
    ...(capture !== undefined && { capture }),
  };
}

/** A key's defaults on one line; empty if it has none of its own. */
export function defaultsText({ cache, store, events, capture }: KeyDefaults): string {
  const parts: string[] = [];
  if (cache !== null) parts.push(`cache ${cache}`);
  if (store !== null) parts.push(store ? 'stored' : 'not stored');
  if (events !== null) parts.push(events ? 'events' : 'no events');
  if (capture) parts.push(`capture ${capture}`);
  return parts.join(', ');
}
