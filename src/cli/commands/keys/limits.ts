import { Argument, Command, Option } from '@commander-js/extra-typings';
import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { getLimits, setLimits } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { dollars } from '../../output/amount.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { example } from '../example.ts';
import { keyNamed } from './key-named.ts';
import { type LimitFlags, limitFlags, limitsChange } from './limit-flags.ts';

/** Names of flags, and the limits that they set. */
const clearable = {
  'spend-cap': 'spend_cap',
  'max-price': 'max_price',
  model: 'models',
  rpm: 'requests_per_minute',
  expires: 'expires_at',
} as const satisfies Record<string, keyof LimitsChange>;

type Clearable = keyof typeof clearable;

export const limitsCommand = (context: Context) =>
  limitFlags(
    new Command('limits')
      .addArgument(new Argument('<what>', 'get them, or set some of them').choices(['get', 'set'] as const))
      .argument('<key>', 'the key: its id, key_…, or its name')
      .option('--workspace <workspace>', 'the workspace that owns the key', 'me'),
  )
    .addOption(
      new Option('--clear <limit...>', 'what it is limited to no longer').choices(
        Object.keys(clearable) as Clearable[],
      ),
    )
    .addHelpText(
      'after',
      example('gateway keys limits set key_01jd… --spend-cap 5/day --rpm 60 --clear expires'),
    )
    .action((what, key, { workspace, clear = [], ...flags }) =>
      what === 'get'
        ? showLimits(context, { workspace, key, flags: { ...flags, clear } })
        : changeLimits(context, { workspace, key, flags: { ...flags, clear } }),
    );

interface Wish {
  workspace: string;
  key: string;
  flags: LimitFlags & { clear: Clearable[] };
}

function changeOf({ flags }: Wish, now: number): LimitsChange {
  const cleared = Object.fromEntries(flags.clear.map((name) => [clearable[name], null]));
  return { ...limitsChange(flags, now), ...cleared };
}

async function showLimits(context: Context, wish: Wish): Promise<void> {
  if (Object.keys(changeOf(wish, 0)).length > 0) {
    throw new CliError('Nothing was changed: get takes no limits.', {
      exit: exitCodes.usage,
      next: `To set them: gateway keys limits set ${wish.key} …`,
    });
  }
  const params = { workspace: wish.workspace, key: await keyNamed(context, wish) };
  const limits = await context.client().call(getLimits, { params });
  await context.out.record(limits, limitColumns(context.now()));
}

/** Sends what was named and leaves the rest as it is. */
async function changeLimits(context: Context, wish: Wish): Promise<void> {
  const body = changeOf(wish, context.now());
  if (Object.keys(body).length === 0) {
    throw new CliError('No limit was named.', {
      exit: exitCodes.usage,
      next: 'Name one: --spend-cap, --max-price, --model, --rpm, --expires, or --clear',
    });
  }
  const params = { workspace: wish.workspace, key: await keyNamed(context, wish) };
  const limits = await context.client().call(setLimits, { params, body });
  await context.out.record(limits, limitColumns(context.now()));
  context.out.note('It counts from the next call on.');
}

const none = 'none';

const limitColumns = (now: number): Column<Limits>[] => [
  {
    title: 'spend_cap',
    value: ({ spend_cap: cap }) => cap && `${cap.usd}/${cap.period}`,
    show: ({ spend_cap: cap }) => (cap ? `${dollars(cap.usd)} per ${cap.period}` : none),
  },
  {
    title: 'max_price_input_usd',
    value: (it) => it.max_price?.input,
    show: (it) => price(it.max_price?.input),
  },
  {
    title: 'max_price_output_usd',
    value: (it) => it.max_price?.output,
    show: (it) => price(it.max_price?.output),
  },
  { title: 'models', value: (it) => it.models?.join(' '), show: (it) => it.models?.join(' ') ?? 'all' },
  {
    title: 'requests_per_minute',
    value: (it) => it.requests_per_minute,
    show: (it) => String(it.requests_per_minute ?? none),
  },
  {
    title: 'expires_at',
    value: (it) => it.expires_at,
    show: (it) => (it.expires_at ? `${it.expires_at} (${ago(it.expires_at, now)})` : 'never'),
  },
];

function price(usd: string | null | undefined): string {
  return usd === null || usd === undefined ? none : `${dollars(usd)} per million tokens`;
}
