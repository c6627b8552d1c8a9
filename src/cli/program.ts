import { CommanderError } from '@commander-js/extra-typings';
import { exitCodes } from '../shared/errors.ts';
import type { Context } from './context.ts';
import { CliError } from './failures/cli-error.ts';
import { buildProgram } from './manifest/build-program.ts';
import { type CommandLine, locate } from './manifest/locate.ts';
import { manifest } from './manifest/manifest.ts';
import { underOtherName } from './manifest/other-names.ts';
import { isInCi, withNpx } from './output/output.ts';

/** Runs one command line; resolves to the exit code and never rejects. */
export async function runProgram(argv: string[], context: Context): Promise<number> {
  try {
    if (argv[0] === 'help' && argv[1] === 'exit-codes') {
      context.io.stdout.write((await import('./failures/exit-codes.ts')).exitCodesHelp());
      return exitCodes.done;
    }
    // Called by the completion scripts. It is not a command, because it needs all commands.
    if (argv[0] === 'completion' && argv[2] === '--') {
      const { suggest, suggestionLines } = await import('./completion/suggest.ts');
      context.io.stdout.write(suggestionLines(await suggest(argv.slice(3), context)));
      return exitCodes.done;
    }
    if (argv.length === 0) {
      if (!isOnTerminal(context)) return introduce(context);
      if (!hasHost(context) && !(await offerStart(context))) return exitCodes.done;
      return await run(['tui'], context);
    }
    return await run(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv, context);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (context.isInterrupted) {
      context.out.warn('Interrupted.');
      return exitCodes.interrupted;
    }
    const { reportFailure } = await import('./explain.ts');
    return reportFailure(error, context);
  }
}

async function run(argv: string[], context: Context): Promise<number> {
  const line = locate(argv);
  checkOtherName(line);
  const { program, takesArguments, takesQuery } = await buildProgram(line, context);
  const words = takesQuery ? exclusionsLast(line.rest) : line.rest;
  const rest = takesArguments ? jsonWithoutFields(words) : words;
  await program.parseAsync([...line.words, ...rest], { from: 'user' });
  return context.exit;
}

/** Fails if there is no such command, but one under another name. */
function checkOtherName(line: CommandLine): void {
  const use = underOtherName(line);
  if (use === undefined) return;
  const [noun = ''] = line.words;
  // What follows an unknown command may be a secret.
  const unknown = Object.hasOwn(manifest, noun) ? line.rest[0] : noun;
  throw new CliError(`unknown command '${unknown}'`, { exit: exitCodes.usage, next: `Use ${use}.` });
}

function isOnTerminal({ io, env }: Context): boolean {
  return io.stdin.isTty && io.stdout.isTty && env.TERM !== 'dumb' && !isInCi(env);
}

function hasHost(context: Context): boolean {
  try {
    return context.host() !== undefined;
  } catch (error) {
    if (error instanceof CliError && error.exit === exitCodes.tryLater) return false;
    throw error;
  }
}

/** `gateway` alone, into a pipe: a few lines in place of the whole help. */
function introduce(context: Context): number {
  const command = (line: string) => withNpx(line, context.env);
  const state = hasHost(context)
    ? `Host: ${context.host().url}`
    : `The daemon is not running. Start it: ${command('gateway serve')}`;
  context.io.stdout.write(`${state}\nAll commands: ${command('gateway --help')}\n`);
  return exitCodes.done;
}

/** `gateway` alone on a terminal, with no daemon to show. Resolves to whether one runs now. */
async function offerStart(context: Context): Promise<boolean> {
  const { io, out, env } = context;
  const command = (line: string) => out.paint.stdout('bold', withNpx(line, env));
  io.stdout.write(`The daemon is not running.

  Start it here:     ${command('gateway serve')}
  Use another host:  ${command('gateway login URL')}
  All commands:      ${command('gateway --help')}

`);
  // The question is asked on stderr.
  if (!out.isInteractive()) return false;
  const { isConfirmed } = await import('./terminal/prompts.ts');
  if (!(await isConfirmed(context, 'Start it in the background now?'))) return false;
  await (await import('./start-daemon.ts')).startDaemon(context);
  return true;
}

/** Filters such as `-client:curl` are no options: they follow all others, in any order, after `--`. */
function exclusionsLast(words: string[]): string[] {
  const end = words.indexOf('--');
  const isExclusion = (word: string, at: number) => /^-[a-z]+:/.test(word) && (end < 0 || at < end);
  const exclusions = words.filter(isExclusion);
  if (exclusions.length === 0) return words;
  const others = words.filter((word, at) => !isExclusion(word, at));
  return [...others, ...(end < 0 ? ['--'] : []), ...exclusions];
}

/** Where arguments follow, bare `--json` must not take the next word as its fields: only `--json=id,name` does. */
function jsonWithoutFields(words: string[]): string[] {
  const end = words.indexOf('--');
  return words.map((word, at) => (word === '--json' && (end < 0 || at < end) ? '--json=' : word));
}
