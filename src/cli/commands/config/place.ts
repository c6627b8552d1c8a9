import type { ConfigFault, ConfigPlace } from '../../../shared/daemon-module.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';

/** Where the configuration of this machine is. */
export function placeOf({ env, platform, home }: Context, file: string | undefined): ConfigPlace {
  return { ...(file !== undefined && { file }), env, platform, home };
}

export function faultsTold(faults: readonly ConfigFault[], next: string): CliError {
  const lines = faults.map(({ place, message }) => `${place}: ${message}`);
  return new CliError(lines.join('\n'), { exit: exitCodes.usage, next });
}

export const fileOption = ['--config <file>', 'the file, where it is not the usual one'] as const;
