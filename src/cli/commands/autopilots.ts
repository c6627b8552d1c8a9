import { Command, Option } from '@commander-js/extra-typings';
import type {
  Autopilot,
  AutopilotDetails,
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../shared/contract/autopilots.ts';
import { exitCodes } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import {
  archiveAutopilot,
  createAutopilot,
  getAutopilot,
  listAutopilots,
  updateAutopilot,
} from '../endpoints.ts';
import { CliError } from '../failures/cli-error.ts';
import { resolveAutopilot } from '../names/resolve.ts';
import { example, wholeNumber } from '../options.ts';
import type { Column } from '../output/table.ts';
import { ago } from '../output/time.ts';
import { confirm } from '../terminal/prompts.ts';

export const createAutopilotCommand = (context: Context) =>
  autopilotFlags(new Command('create').argument('<name>', 'its display name'))
    .addHelpText(
      'after',
      example('gateway autopilots create "Night Watch" --policy \'{"model":"sim/assistant"}\''),
    )
    .action(async (displayName, flags) => {
      const body = { displayName, ...autopilotBody(flags) };
      const { data } = await context.client().call(createAutopilot, { body });
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
    .addHelpText('after', example('gateway autopilots update night-watch --status disabled'))
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
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', example('gateway autopilots archive night-watch --yes'))
    .action(async (given, { yes }) => {
      const autopilot = await resolveAutopilot(context, given);
      await confirm(context, `Archive ${autopilot}? It can no longer be changed.`, { yes });
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
        'a label for clients; on this host only you can find it',
      ).choices(visibilities),
    )
    .option('--profile <json>', 'profile fields, as a JSON object')
    .option('--policy <json>', 'policy fields, as a JSON object');
}

interface Flags {
  handle?: string | undefined;
  tagline?: string | undefined;
  avatar?: string | undefined;
  visibility?: AutopilotVisibility | undefined;
  profile?: string | undefined;
  policy?: string | undefined;
}

/** The flags as a request body. */
function autopilotBody({ profile, policy, handle, tagline, avatar, visibility }: Flags) {
  return {
    handle,
    tagline,
    avatar,
    visibility,
    profile: objectIn<AutopilotProfile>('--profile', profile),
    policy: objectIn<AutopilotPolicy>('--policy', policy),
  };
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
  { title: 'updated', value: ({ updatedAt }) => updatedAt, show: ({ updatedAt }) => ago(updatedAt, now) },
];

const detailColumns = (now: number): Column<AutopilotDetails>[] => [
  ...autopilotColumns(now),
  { title: 'profile', value: ({ profile }) => JSON.stringify(profile) },
  { title: 'policy', value: ({ policy }) => JSON.stringify(policy) },
];
