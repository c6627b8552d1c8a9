import { Command, Help, Option } from '@commander-js/extra-typings';
import type {
  Autopilot,
  AutopilotDetails,
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotSchedule,
  AutopilotStatus,
  AutopilotVisibility,
  ListedAutopilot,
} from '../../shared/contract/autopilots.ts';
import {
  archiveAutopilot,
  createAutopilot,
  getAutopilot,
  listAutopilots,
  listDirectory,
  updateAutopilot,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { ago } from '../../view/durations.ts';
import { dollars } from '../../view/money.ts';
import { plannedTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { asGiven, resolveAutopilot } from '../names/resolve.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { policyFields, profileFields } from './autopilot-fields.ts';
import { spendCap } from './keys/limits.ts';

export const createAutopilotCommand = (context: Context) =>
  autopilotFlags(new Command('create').argument('<name>', 'its display name'))
    .addHelpText('after', fieldsHelp(context))
    .addHelpText(
      'after',
      example('gateway autopilots create Paper --model sim/echo --schedule "0 8 * * *" --input "News?"'),
    )
    .action(async (displayName, flags) => {
      const { schedule, ...body } = autopilotBody(flags);
      const { data } = await context
        .client()
        .call(createAutopilot, { body: { displayName, ...body, schedule: complete(schedule) } });
      await context.out.record(data, detailColumns(context.now()));
    });

const statuses = ['active', 'disabled', 'archived'] as const satisfies readonly AutopilotStatus[];

export const listAutopilotsCommand = (context: Context) =>
  new Command('list')
    .addOption(new Option('--status <status>', 'only autopilots with this status').choices(statuses))
    .option(
      '--limit <count>',
      'maximum number to list, last changed first',
      wholeNumber({ min: 1, max: 200 }),
      100,
    )
    .addHelpText('after', example('gateway autopilots list --status active'))
    .action(async ({ status, limit }) => {
      const { data } = await context.client().call(listAutopilots, { query: { status, limit } });
      await context.out.table(data, autopilotColumns(context.now()), { empty: 'No autopilots.' });
    });

export const listDirectoryCommand = (context: Context) =>
  new Command('directory')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1, max: 200 }), 50)
    .option('--before <autopilot-id>', 'only those created before this one')
    .addHelpText('after', example('gateway autopilots directory'))
    .action(async ({ limit, before }) => {
      const { data } = await context.client().call(listDirectory, { query: { limit, before_id: before } });
      await context.out.table(data, listedColumns, { empty: 'No autopilots.' });
    });

const listedColumns: Column<ListedAutopilot>[] = [
  { title: 'id', value: ({ id }) => id, isSpare: true },
  { title: 'handle', value: ({ handle }) => handle, essential: true },
  { title: 'name', value: ({ displayName }) => displayName },
  { title: 'owner', value: ({ owner }) => owner.handle },
  { title: 'visibility', value: ({ visibility }) => visibility },
  { title: 'tagline', value: ({ tagline }) => tagline, show: ({ tagline }) => tagline || '–' },
];

export const showAutopilotCommand = (context: Context) =>
  new Command('show')
    .argument('<autopilot>', 'the id, handle or name of one of your autopilots')
    .addHelpText('after', example('gateway autopilots show night-watch'))
    .action(async (given) => {
      const autopilot = await resolveAutopilot(context, given);
      const { data } = await context.client().call(getAutopilot, { params: { autopilot } });
      await context.out.record(data, detailColumns(context.now()));
    });

export const updateAutopilotCommand = (context: Context) =>
  autopilotFlags(
    new Command('update')
      .argument('<autopilot>', 'the id, handle or name of one of your autopilots')
      .option('--name <name>', 'its display name')
      .addOption(new Option('--status <status>', 'its new status').choices(['active', 'disabled'] as const)),
  )
    .option('--pause', 'start no runs by the schedule for now')
    .option('--resume', 'start runs by the schedule again')
    .addHelpText('after', fieldsHelp(context))
    .addHelpText(
      'after',
      example('gateway autopilots update night-watch --schedule "@hourly" --spend-cap 1/day'),
    )
    .action(async (given, { name: displayName, status, ...flags }) => {
      const body = { displayName, status, ...autopilotBody(flags) };
      if (Object.values(body).every((value) => value === undefined)) {
        throw new CliError('Nothing to change: give at least one option.', { exit: exitCodes.usage });
      }
      const autopilot = await resolveAutopilot(context, given);
      const { data } = await context.client().call(updateAutopilot, { params: { autopilot }, body });
      await context.out.record(data, detailColumns(context.now()));
    });

export const archiveAutopilotCommand = (context: Context) =>
  new Command('archive')
    .argument('<autopilot>', 'the id, handle or name of one of your autopilots')
    .addOption(yesOption())
    .addHelpText('after', example('gateway autopilots archive night-watch --yes'))
    .action(async (given, { yes }) => {
      const autopilot = await resolveAutopilot(context, given);
      await confirm(context, `Archive ${asGiven(given, autopilot)}? It can no longer be changed.`, { yes });
      const { data } = await context.client().call(archiveAutopilot, { params: { autopilot } });
      return context.out.done(data, `Archived ${data.handle}.`);
    });

const visibilities = ['private', 'discoverable', 'public'] as const satisfies readonly AutopilotVisibility[];

/** The options that set an autopilot's fields, for create and update. */
function autopilotFlags<A extends unknown[], O extends Record<string, unknown>>(command: Command<A, O>) {
  return command
    .option('--handle <handle>', 'its handle: letters, digits and : _ -')
    .option('--tagline <text>', 'a one-line description')
    .option('--avatar <url>', 'the URL of an avatar image; empty for none')
    .addOption(
      new Option(
        '--visibility <visibility>',
        'who finds it in the directory of the host: you, its users, or everyone',
      ).choices(visibilities),
    )
    .option('--model <model>', 'its model; by default the default model of the host')
    .option('--profile <json>', 'profile fields, as a JSON object')
    .option('--policy <json>', 'policy fields, as a JSON object')
    .addOption(
      new Option(
        '--spend-cap <usd/period>',
        'the most that its model calls may cost: 5/day, 20/month, 100/total; none for no cap',
      ).argParser((text) => (text === 'none' ? 'none' : spendCap(text))),
    )
    .option('--schedule <cron>', 'when it runs by itself: minute, hour, day, month, weekday; none for never')
    .option(
      '--time-zone <zone>',
      'the time zone of the schedule, like Europe/Rome; by default that of the host',
    )
    .option('--input <text>', 'what it is asked in each scheduled run')
    .option(
      '--run-max-sats <number>',
      'the most that a scheduled run may pay; approves these payments',
      wholeNumber({ min: 0 }),
    );
}

/** The fields of `--policy` and `--profile`, as wide as the terminal. */
const fieldsHelp = (context: Context) => () => {
  const help = new Help();
  help.helpWidth = context.io.columns();
  const all = { ...policyFields, ...profileFields };
  const width = Math.max(...Object.keys(all).map(({ length }) => length));
  const listed = (fields: typeof policyFields) =>
    Object.entries(fields).map(([name, meaning]) => help.formatItem(name, width, meaning, help));
  return [
    '\nFields of --policy, as in \'{"model":"sim/assistant","l402AllowedHosts":["example.com"]}\':',
    ...listed(policyFields),
    '\nFields of --profile, which the model gets as instructions:',
    ...listed(profileFields),
  ].join('\n');
};

interface Flags {
  handle?: string | undefined;
  tagline?: string | undefined;
  avatar?: string | undefined;
  visibility?: AutopilotVisibility | undefined;
  profile?: string | undefined;
  policy?: string | undefined;
  model?: string | undefined;
  spendCap?: NonNullable<AutopilotPolicy['modelSpendCap']> | 'none' | undefined;
  schedule?: string | undefined;
  timeZone?: string | undefined;
  input?: string | undefined;
  runMaxSats?: number | undefined;
  pause?: true | undefined;
  resume?: true | undefined;
}

/** The flags as a request body. */
function autopilotBody(flags: Flags) {
  const { profile, handle, tagline, avatar, visibility } = flags;
  return {
    handle,
    tagline,
    avatar,
    visibility,
    profile: objectIn<AutopilotProfile>('--profile', profile),
    policy: policyIn(flags),
    schedule: scheduleIn(flags),
  };
}

function policyIn({ policy, model, spendCap: cap }: Flags): AutopilotPolicy | undefined {
  const given = objectIn<AutopilotPolicy>('--policy', policy);
  if (model === undefined && cap === undefined) return given;
  return {
    ...given,
    ...(model !== undefined && { model }),
    ...(cap !== undefined && { modelSpendCap: cap === 'none' ? null : cap }),
  };
}

type ScheduleFlags = Pick<Flags, 'schedule' | 'timeZone' | 'input' | 'runMaxSats' | 'pause' | 'resume'>;

/** A new schedule. */
function complete(schedule: Partial<AutopilotSchedule> | null | undefined) {
  if (!schedule) return schedule;
  const { cron, input } = schedule;
  if (cron !== undefined && input !== undefined) return { ...schedule, cron, input };
  throw new CliError('A schedule needs --schedule and --input.', { exit: exitCodes.usage });
}

/** The change of the schedule; undefined if no flag is about it. */
function scheduleIn({ schedule, timeZone, input, runMaxSats, pause, resume }: ScheduleFlags) {
  if (schedule === 'none') return null;
  if (pause && resume) throw new CliError('Give --pause or --resume.', { exit: exitCodes.usage });
  const change: Partial<AutopilotSchedule> = {
    ...(schedule !== undefined && { cron: schedule }),
    ...(timeZone !== undefined && { timeZone }),
    ...(input !== undefined && { input }),
    ...(runMaxSats !== undefined && { maxSpendMsats: runMaxSats * 1000 }),
    ...((pause || resume) && { paused: pause === true }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

function objectIn<Members>(flag: string, json: string | undefined): Members | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  } catch {}
  throw new CliError(`${flag} must be a JSON object, like {"model":"sim/echo"}.`, { exit: exitCodes.usage });
}

const autopilotColumns = (now: number): Column<Autopilot>[] => [
  { title: 'id', value: ({ id }) => id, isSpare: true },
  { title: 'handle', value: ({ handle }) => handle, essential: true },
  { title: 'name', value: ({ displayName }) => displayName },
  {
    title: 'status',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'active' ? 'green' : 'dim'),
  },
  { title: 'visibility', value: ({ visibility }) => visibility },
  { title: 'version', value: ({ configVersion }) => configVersion, align: 'right' },
  { title: 'tagline', value: ({ tagline }) => tagline, show: ({ tagline }) => tagline || '–', isSpare: true },
  {
    title: 'next_run_at',
    value: ({ nextRunAt }) => nextRunAt,
    show: ({ nextRunAt }) => (nextRunAt === null ? '–' : plannedTime(nextRunAt)),
  },
  { title: 'updated', value: ({ updatedAt }) => updatedAt, show: ({ updatedAt }) => ago(updatedAt, now) },
];

const detailColumns = (now: number): Column<AutopilotDetails>[] => [
  ...autopilotColumns(now),
  { title: 'profile', value: ({ profile }) => JSON.stringify(profile) },
  { title: 'policy', value: ({ policy }) => JSON.stringify(policy) },
  {
    title: 'schedule',
    value: ({ schedule }) => schedule && JSON.stringify(schedule),
    show: ({ schedule }) => (schedule === null ? 'none' : scheduleText(schedule)),
  },
  {
    title: 'model_spend_usd',
    value: ({ modelSpend }) => JSON.stringify(modelSpend),
    show: ({ modelSpend: { dayUsd, monthUsd, totalUsd } }) =>
      `${dollars(dayUsd)} today, ${dollars(monthUsd)} this month, ${dollars(totalUsd)} in total`,
  },
];

function scheduleText({ cron, timeZone, input, paused, maxSpendMsats }: AutopilotSchedule): string {
  const most = maxSpendMsats === undefined ? '' : `, at most ${bitcoin(maxSpendMsats)}`;
  return `${cron} (${timeZone})${paused ? ', paused' : ''}${most}: ${input}`;
}
