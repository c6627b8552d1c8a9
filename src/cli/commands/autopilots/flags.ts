import { type Command, Option } from '@commander-js/extra-typings';
import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotVisibility,
} from '../../../shared/contract/autopilots.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';

const visibilities = ['private', 'discoverable', 'public'] as const satisfies readonly AutopilotVisibility[];

/** What can be said of an autopilot when it is made and later. */
export function autopilotFlags<A extends unknown[], O extends Record<string, unknown>>(
  command: Command<A, O>,
) {
  return command
    .option('--handle <handle>', 'what it is called: letters, digits and : _ -')
    .option('--tagline <text>', 'a line about it')
    .option('--avatar <url>', 'the address of a picture; empty for none')
    .addOption(new Option('--visibility <visibility>', 'who may find it').choices(visibilities))
    .option('--profile <json>', 'members of its profile, as a JSON object')
    .option('--policy <json>', 'members of its policy, as a JSON object');
}

interface Flags {
  handle?: string | undefined;
  tagline?: string | undefined;
  avatar?: string | undefined;
  visibility?: AutopilotVisibility | undefined;
  profile?: string | undefined;
  policy?: string | undefined;
}

/** The flags as the API takes them. */
export function autopilotBody({ profile, policy, handle, tagline, avatar, visibility }: Flags) {
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
