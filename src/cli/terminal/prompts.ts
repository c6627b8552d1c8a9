import { exitCodes } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { escapeControls } from '../output/escape-controls.ts';
import { pipedText, typedStdin } from './piped-input.ts';

interface Confirmation {
  /** `--yes` was given: nothing is asked. */
  yes?: true | undefined;
  /** Fails where nothing has the given id; called before the question, so that the answer is not wasted. */
  find?: () => Promise<unknown>;
}

/** Asks before a destructive action. Without a terminal, `--yes` is required. */
export async function confirm(
  context: Context,
  question: string,
  { yes, find }: Confirmation,
): Promise<void> {
  if (yes) return;
  await find?.();
  const { stdin } = context.io;
  if (!stdin.isTty || !context.out.isInteractive()) {
    throw usageError(`${question} Confirmation is required.`, 'Confirm with --yes.');
  }
  if (!(await isConfirmed(context, escapeControls(question)))) {
    throw new CliError('Cancelled; nothing was changed.', { exit: exitCodes.failed });
  }
}

/** Asks at the terminal; anything but yes is no. */
export async function isConfirmed({ io }: Context, question: string): Promise<boolean> {
  const answer = await io.stdin.readLine({ prompt: `${question} [y/N] `, isFresh: true });
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

interface SecretOptions {
  /** `Key for openai` */
  prompt: string;
  /** The name of an environment variable, from `--from-env`. */
  fromEnv?: string | undefined;
}

/**
 * Reads a secret from an environment variable, piped input or a hidden prompt. Never from an argument, which would end up
 * in the shell's history and the process list. Without the line end; never empty.
 */
export async function askSecret(context: Context, { prompt, fromEnv }: SecretOptions): Promise<string> {
  const secret = (await found(context, prompt, fromEnv))?.replace(/\r?\n$/, '').trim();
  if (secret) return secret;
  throw new CliError(fromEnv === undefined ? 'No value was given.' : `${fromEnv} is not set, or empty.`, {
    exit: exitCodes.usage,
    next:
      fromEnv === undefined ? 'Pipe it in, or name an environment variable with --from-env NAME.' : undefined,
  });
}

async function found(
  context: Context,
  prompt: string,
  fromEnv: string | undefined,
): Promise<string | undefined> {
  const { io, env, out } = context;
  if (fromEnv !== undefined) return env[fromEnv];
  if (!io.stdin.isTty) return await pipedText(context, typedStdin);
  if (!out.isInteractive()) return undefined;
  return io.stdin.readHidden(`${prompt}: `);
}

/** Reads a one-time code from an environment variable, piped input or a prompt; never from an argument. */
export async function readCode(
  context: Context,
  { question, fromEnv }: { question: string; fromEnv: string | undefined },
): Promise<string> {
  const code = await codeFrom(context, question, fromEnv);
  if (code !== '') return code;
  throw usageError(
    'No code was given.',
    'Pipe it in, or name an environment variable with --code-from-env NAME.',
  );
}

async function codeFrom(context: Context, question: string, fromEnv: string | undefined): Promise<string> {
  if (fromEnv !== undefined) return (context.env[fromEnv] ?? '').trim();
  const { stdin } = context.io;
  if (!stdin.isTty) return (await pipedText(context, typedStdin)).trim();
  if (!context.out.isInteractive()) return '';
  return ((await stdin.readLine({ prompt: escapeControls(`${question}: `) })) ?? '').trim();
}

/** A message from an argument or piped input, without its last line end; `-` as well stands for what is piped in. */
export async function messageText(context: Context, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  const { stdin } = context.io;
  const piped = stdin.isTty ? '' : (await pipedText(context, typedStdin)).replace(/\r?\n$/, '');
  if (piped.trim() !== '') return piped;
  throw usageError('The message is empty.', 'Give the text as an argument, or pipe it in.');
}
