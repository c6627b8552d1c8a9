import { Command, Option } from '@commander-js/extra-typings';
import { type Input, type Result, scopeNames } from '../../../shared/contract/endpoint.ts';
import type { ActionName, LimitsChange } from '../../../shared/contract/key-limits.ts';
import type { issueKey as issueKeyContract, KeyView, KeyWithUse } from '../../../shared/contract/keys.ts';
import {
  getKey,
  issueKey,
  listKeys,
  pauseKey,
  resumeKey,
  revokeKey,
  showKey,
} from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { dataFiles } from '../../../shared/folders.ts';
import { hintOf } from '../../../shared/secrets.ts';
import { ago } from '../../../view/durations.ts';
import { pick } from '../../../view/field.ts';
import { keyFields } from '../../../view/keys.ts';
import { limitsText } from '../../../view/limits.ts';
import { capText, dollars } from '../../../view/money.ts';
import { exactTime } from '../../../view/times.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { checkIsThisMachine, findThisMachine } from '../../hosts/hosts.ts';
import { readDaemonFile, readSecret } from '../../hosts/local-daemon.ts';
import { collectPages } from '../../hosts/pages.ts';
import { asGiven, resolveKey, resolveWorkspace } from '../../names/resolve.ts';
import { example, yesOption } from '../../options.ts';
import { recordColumn } from '../../output/field-columns.ts';
import type { Column } from '../../output/table.ts';
import { confirm } from '../../terminal/prompts.ts';
import { defaultFlags, defaultsChange, defaultsText } from './defaults.ts';
import { limitFlags, limitsChange, spendCap } from './limits.ts';

export const issueKeyCommand = (context: Context) =>
  defaultFlags(
    limitFlags(
      new Command('issue')
        .option('--workspace <workspace>', 'the workspace that will own the key', 'me')
        .option('--name <name>', 'a name to recognise it by')
        .addOption(new Option('--scope <scope...>', 'permissions of the key').choices(scopeNames))
        .option(
          '--allow-model <pattern...>',
          'restrict the key to these models, permanently; * matches any characters',
        )
        .addOption(
          new Option(
            '--allow-action <action...>',
            'restrict the key to these kinds of calls, permanently',
          ).choices(actions),
        ),
      context,
    ),
  )
    .addHelpText(
      'after',
      example('export GATEWAY_KEY=$(gateway keys issue --name ci --spend-cap 5/day --quiet)'),
    )
    .action(
      async ({ workspace, name, scope: scopes, allowModel: models, allowAction: actions, ...flags }) => {
        const change = limitsChange(flags);
        const limits = Object.keys(change).length > 0 ? change : await askForLimit(context);
        const wanted = defaultsChange(flags);
        const defaults = Object.keys(wanted).length > 0 ? wanted : undefined;
        return issueKeyAndShow(context, {
          params: { workspace: await resolveWorkspace(context, workspace) },
          body: { name, scopes, models, actions, limits, defaults },
        });
      },
    );

/** Asks once for a spending limit, where a person issues a key without any limit; a script is not asked. */
async function askForLimit(context: Context): Promise<LimitsChange | undefined> {
  const { io, out } = context;
  const isWatched = io.stdin.isTty && io.stdout.isTty && out.isInteractive();
  if (!isWatched || out.wantsJson() || out.isQuiet()) return undefined;
  const prompt = 'Spending limit, like 5/day, 20/month or 100/total (Enter: no limit): ';
  const typed = (await io.stdin.readLine({ prompt, isFresh: true }))?.trim();
  if (typed === undefined) throw new CliError('Cancelled; no key was issued.', { exit: exitCodes.failed });
  if (typed === '') return undefined;
  try {
    return { spend_cap: spendCap(typed) };
  } catch (cause) {
    throw new CliError(`${(cause as Error).message} No key was issued.`, { exit: exitCodes.usage, cause });
  }
}

/** Repeated here because loading the contract would load its schemas. */
const actions = [
  'responses',
  'chat',
  'messages',
  'compact',
  'embeddings',
  'decisions',
] as const satisfies readonly ActionName[];

/** Piped, it prints the id, a tab and the secret; with --quiet only the secret. */
async function issueKeyAndShow(context: Context, input: Input<typeof issueKeyContract>): Promise<void> {
  const issued = await context.client().call(issueKey, input);
  await context.out.record(issued, [id, name, scopes, secret], { pipedRow: [id, secret], shownOnce: secret });
  context.out.note('Save the secret now: it is not shown again.');
}

type Issued = Column<Result<typeof issueKeyContract>>;

const id: Issued = { title: 'id', value: ({ key }) => key.id };
const name: Issued = { title: 'name', value: ({ key }) => key.name };
const scopes: Issued = { title: 'scopes', value: ({ key }) => key.scopes.join(' ') };
const secret: Issued = {
  title: 'secret',
  value: (issued) => issued.secret,
  style: () => 'bold',
  essential: true,
};

export const showKeyCommand = (context: Context) =>
  new Command('show')
    .argument('<key>', "the key's id (key_…) or name")
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .addHelpText('after', example('gateway keys show key_01jd…'))
    .action(async (key, options) => {
      const workspace = await resolveWorkspace(context, options.workspace);
      const params = {
        workspace,
        key: await resolveKey(context, { workspace, key }, { canBeRevoked: true }),
      };
      const shown = await context.client().call(showKey, { params });
      await context.out.record(shown, keyRecord(context.now()));
    });

function previousText(
  { hint, ends_at: ends, last_used_at: used }: KeyWithUse['previous_secrets'][number],
  now: number,
): string {
  return `${hint} until ${exactTime(ends)}, ${used === null ? 'not used since' : `used ${ago(used, now)}`}`;
}

const recorded = (now: number, ...names: string[]): Column<KeyWithUse>[] =>
  pick(keyFields, names).map((field) => recordColumn(field, { now }));

/** A key and how much of its limits is used; `now` in milliseconds since 1970. */
export const keyRecord = (now: number): Column<KeyWithUse>[] => [
  ...recorded(now, 'id', 'name'),
  ...recorded(now, 'status').map((column) => ({
    ...column,
    show: ({ status, paused_at: at }: KeyWithUse) =>
      status === 'paused' ? `paused since ${exactTime(at ?? '')}` : status,
  })),
  ...recorded(now, 'secret'),
  {
    title: 'previous_secrets',
    // Older daemons do not report them.
    value: (key) => key.previous_secrets?.map(({ hint }) => hint).join(' '),
    show: (key) => key.previous_secrets?.map((one) => previousText(one, now)).join('; ') || 'none',
  },
  ...recorded(now, 'scopes', 'allowed_models', 'allowed_actions'),
  ...recorded(now, 'limits').map((column) => ({
    ...column,
    // In pipes, with the exact time.
    value: (key: KeyWithUse) => limitsText(key.limits, { timeText: String }),
  })),
  {
    title: 'defaults',
    value: (key) => defaultsText(key.defaults),
    show: (key) => defaultsText(key.defaults) || 'set by host',
  },
  ...(['day', 'month', 'total'] as const).map(
    (period): Column<KeyWithUse> => ({
      title: `spend_${period}_usd`,
      value: (key) => key.used.spend_usd[period],
      show: (key) => spendText(key, period),
      style: (key) => styleOfShare(spendShare(key, period)),
    }),
  ),
  {
    title: 'spent_of_limit_usd',
    value: (key) => key.limits.spend_cap && spentOfCap(key),
    show: (key) => ofLimitText(key),
  },
  {
    title: 'requests_last_minute',
    value: (key) => key.used.requests_last_minute,
    show: (key) => requestsText(key),
    style: (key) => styleOfShare(requestsShare(key)),
  },
  ...recorded(now, 'created_at', 'last_used_at'),
  { title: 'rotated_at', value: (key) => key.rotated_at, show: (key) => ago(key.rotated_at, now) },
];

export type Period = 'day' | 'week' | 'month' | 'total';

/** The used share of a spending limit, 1 when used up; undefined without that limit. */
export function spendShare({ limits, used }: KeyWithUse, period: Period): number | undefined {
  if (limits.spend_cap?.period !== period) return undefined;
  const cap = Number(limits.spend_cap.usd);
  return cap === 0 ? 1 : Number(spentOfCap({ limits, used })) / cap;
}

/** What is spent of a key's spending limit in its period. */
export function spentOfCap({ limits, used }: Pick<KeyWithUse, 'limits' | 'used'>): string {
  const period = limits.spend_cap?.period ?? 'total';
  // Older daemons do not report it, and have no weeks.
  return used.spend_cap?.spent_usd ?? (period === 'week' ? '0' : used.spend_usd[period]);
}

/** Whether the periods of a key's spending limit are not those of its other sums, which are in UTC. */
function hasOwnPeriods({ limits: { spend_cap: cap } }: KeyWithUse): boolean {
  return cap?.period === 'week' || Boolean(cap?.time_zone ?? cap?.day_starts ?? cap?.week_starts);
}

/** The used share of the calls per minute, 1 when used up; undefined without that limit. */
export function requestsShare({ limits, used }: KeyWithUse): number | undefined {
  return limits.requests_per_minute === null
    ? undefined
    : used.requests_last_minute / limits.requests_per_minute;
}

function spendText(key: KeyWithUse, period: keyof KeyWithUse['used']['spend_usd']): string {
  const spent = dollars(key.used.spend_usd[period]);
  const share = hasOwnPeriods(key) ? undefined : spendShare(key, period);
  return share === undefined ? spent : `${bar(share)} ${spent} of ${dollars(key.limits.spend_cap?.usd)}`;
}

function ofLimitText(key: KeyWithUse): string {
  const { spend_cap: cap } = key.limits;
  if (!cap) return 'no limit';
  const text = `${dollars(spentOfCap(key))} of ${capText(cap)}`;
  return `${bar(spendShare(key, cap.period) ?? 0)} ${text}`;
}

function requestsText(key: KeyWithUse): string {
  const share = requestsShare(key);
  const count = String(key.used.requests_last_minute);
  return share === undefined ? count : `${bar(share)} ${count} of ${key.limits.requests_per_minute}`;
}

const barWidth = 16;

/** `████████░░░░░░░░`: not empty once anything is used, and not full until everything is. */
export function bar(share: number): string {
  const exact = Math.min(1, Math.max(0, share)) * barWidth;
  const full = exact >= barWidth ? barWidth : Math.min(barWidth - 1, Math.ceil(exact));
  return '█'.repeat(full) + '░'.repeat(barWidth - full);
}

export function styleOfShare(share: number | undefined): 'red' | 'yellow' | undefined {
  if (share === undefined || share < 0.8) return undefined;
  return share >= 1 ? 'red' : 'yellow';
}

export const revokeKeyCommand = (context: Context) =>
  new Command('revoke')
    .argument('<key>', "the key's id (key_…) or name")
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .addOption(yesOption())
    .addHelpText('after', example('gateway keys revoke key_01jd… --yes'))
    .action(async (key, { workspace: given, yes }) => {
      const workspace = await resolveWorkspace(context, given);
      const id = await resolveKey(context, { workspace, key });
      await confirmAndRevoke(context, { workspace, id, name: asGiven(key, id), yes });
    });

interface Revocation {
  workspace: string;
  id: string;
  /** As users know the key. */
  name: string;
  yes?: true | undefined;
}

async function confirmAndRevoke(context: Context, { workspace, id, name, yes }: Revocation): Promise<void> {
  const question = `Revoke ${name}? Calls with it and with keys it issued will fail.`;
  await confirm(context, question, { yes });
  const deleted = await context.client().call(revokeKey, { params: { workspace, key: id } });
  if (context.out.wantsJson()) return context.out.document(deleted);
  // Older daemons do not report them.
  const others = deleted.also_revoked ?? [];
  const issued = others.length === 1 ? 'the key it issued' : `the ${others.length} keys it issued`;
  const also = others.length > 0 ? ` and ${issued}: ${others.join(', ')}` : '';
  context.out.note(`Revoked ${name}${also}.`);
}

export const pauseKeyCommand = (context: Context) =>
  new Command('pause')
    .argument('<key>', "the key's id (key_…) or name")
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .addHelpText('after', example('gateway keys pause my-app'))
    .action(async (key, { workspace }) => {
      const paused = await changePause(context, { workspace, key, isPaused: true });
      if (paused) context.out.note(`Paused ${paused.name}. Resume it: gateway keys resume ${paused.id}`);
    });

export const resumeKeyCommand = (context: Context) =>
  new Command('resume')
    .argument('<key>', "the key's id (key_…) or name")
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .addHelpText('after', example('gateway keys resume my-app'))
    .action(async (key, { workspace }) => {
      const resumed = await changePause(context, { workspace, key, isPaused: false });
      if (resumed) context.out.note(`Resumed ${resumed.name}.`);
    });

/** Returns the key, with its name as users know it, for a note; prints it as JSON instead if that is wanted. */
async function changePause(
  context: Context,
  given: { workspace: string; key: string; isPaused: boolean },
): Promise<{ id: string; name: string } | undefined> {
  const workspace = await resolveWorkspace(context, given.workspace);
  const id = await resolveKey(context, { workspace, key: given.key });
  const params = { workspace, key: id };
  const client = context.client();
  const changed = await (given.isPaused
    ? client.call(pauseKey, { params })
    : client.call(resumeKey, { params }));
  if (!context.out.wantsJson()) return { id, name: asGiven(given.key, id) };
  await context.out.document(changed);
  return undefined;
}

export const defaultKeyCommand = (context: Context) =>
  new Command('default')
    .addHelpText('after', example('curl -H "authorization: Bearer $(gateway keys default)" …'))
    .action(() => showDefaultKey(context));

/** Reads the file written on first start; the daemon need not be running. If it is, the key must be valid. */
async function showDefaultKey(context: Context): Promise<void> {
  checkIsThisMachine(context, 'The default key');
  const secret = readSecret(context, dataFiles.defaultKey);
  if (secret === undefined) {
    throw new CliError('This machine has no default key.', {
      exit: exitCodes.failed,
      next: 'It is created on first start: gateway serve. For another key: gateway keys issue',
    });
  }
  if (await isKnownRevoked(context, secret)) {
    throw new CliError('The default key has been revoked.', {
      exit: exitCodes.failed,
      next: 'Issue another: gateway keys issue --name NAME',
    });
  }
  if (context.out.wantsJson()) await context.out.document({ secret });
  else context.out.text(`${secret}\n`);
}

/** Does not call with the key, which would then have been used. */
async function isKnownRevoked(context: Context, secret: string): Promise<boolean> {
  if (readDaemonFile(context) === undefined) return false;
  const client = context.clientFor({ ...findThisMachine(context), workspace: undefined });
  const params = { workspace: 'me' };
  const keys = await collectPages(1000, (query) => client.call(listKeys, { params, query })).catch(() => []);
  return keys.some((key) => key.status === 'revoked' && key.hint === hintOf(secret));
}

export const keyCommand = (context: Context) =>
  new Command('key')
    .addHelpText('after', example('GATEWAY_KEY=$(gateway keys default) gateway key'))
    .action(async () => {
      await context.out.record(await context.client().call(getKey, {}), callingKeyColumns(context.now()));
    });

const callingKeyColumns = (now: number): Column<KeyView>[] => [
  { title: 'id', value: (key) => key.id },
  { title: 'name', value: (key) => key.name },
  { title: 'workspace', value: (key) => key.workspace },
  { title: 'scopes', value: (key) => key.scopes.join(' ') },
  { title: 'balance_usd', value: (key) => key.balance_usd, show: (key) => balance(key) },
  { title: 'spend_day_usd', value: (key) => key.spend_usd.day, show: (key) => dollars(key.spend_usd.day) },
  {
    title: 'spend_month_usd',
    value: (key) => key.spend_usd.month,
    show: (key) => dollars(key.spend_usd.month),
  },
  {
    title: 'spend_total_usd',
    value: (key) => key.spend_usd.total,
    show: (key) => dollars(key.spend_usd.total),
  },
  {
    title: 'limits',
    value: (key) => limitsText(key.limits),
    show: (key) => limitsText(key.limits) || 'none',
  },
  { title: 'created_at', value: (key) => key.created_at, show: (key) => ago(key.created_at, now) },
  { title: 'last_used_at', value: (key) => key.last_used_at, show: (key) => ago(key.last_used_at, now) },
];

function balance(key: KeyView): string {
  return key.balance_usd === null ? 'not prepaid' : dollars(key.balance_usd);
}
