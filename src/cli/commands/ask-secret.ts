import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';

interface SecretOptions {
  /** What is asked for, as a person reads it: `Key for openai`. */
  prompt: string;
  /** The name of an environment variable that holds it, from `--from-env`. */
  fromEnv?: string | undefined;
}

/**
 * A secret from the environment, from what is piped in, or typed unseen. Never from an argument: those are in the
 * shell's history and in the list of processes. Without the line end; never empty.
 */
export async function askSecret(context: Context, { prompt, fromEnv }: SecretOptions): Promise<string> {
  const secret = (await found(context, prompt, fromEnv))?.replace(/\r?\n$/, '').trim();
  if (secret) return secret;
  throw new CliError(fromEnv === undefined ? 'Nothing was given.' : `${fromEnv} is not set, or empty.`, {
    exit: exitCodes.usage,
    next:
      fromEnv === undefined
        ? 'Pipe it in, or name a variable that holds it with --from-env NAME.'
        : undefined,
  });
}

async function found(
  { io, env, out }: Context,
  prompt: string,
  fromEnv: string | undefined,
): Promise<string | undefined> {
  if (fromEnv !== undefined) return env[fromEnv];
  if (!io.stdin.isTty) return Buffer.from(await io.stdin.read()).toString('utf8');
  if (!out.isInteractive()) return undefined;
  io.stderr.write(`${prompt}: `);
  const typed = await io.stdin.readHidden();
  io.stderr.write('\n');
  return typed;
}
