import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { visible } from '../output/visible.ts';

/** A one-time code: from the environment variable that was named, from stdin, or asked for. Never from an argument. */
export async function readCode(
  context: Context,
  { question, fromEnv }: { question: string; fromEnv: string | undefined },
): Promise<string> {
  const code = await codeFrom(context, question, fromEnv);
  if (code !== '') return code;
  throw new CliError('No code was given.', {
    exit: exitCodes.usage,
    next: 'Pipe it in, or name the variable that holds it: --code-from-env NAME',
  });
}

async function codeFrom(context: Context, question: string, fromEnv: string | undefined): Promise<string> {
  if (fromEnv !== undefined) return (context.env[fromEnv] ?? '').trim();
  const { stdin, stderr } = context.io;
  if (!stdin.isTty) return new TextDecoder().decode(await stdin.read()).trim();
  if (!context.out.isInteractive()) return '';
  stderr.write(visible(`${question}: `));
  return ((await stdin.readLine()) ?? '').trim();
}
