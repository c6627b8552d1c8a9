import { CommanderError } from '@commander-js/extra-typings';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import type { Context } from './context.ts';
import { buildProgram } from './manifest/build-program.ts';
import { locate } from './manifest/locate.ts';

/** Runs one command line; resolves to the exit code and never rejects. */
export async function runProgram(argv: string[], context: Context): Promise<ExitCode> {
  try {
    if (argv[0] === 'help' && argv[1] === 'exit-codes') {
      context.io.stdout.write((await import('./failures/exit-codes.ts')).exitCodesHelp());
      return exitCodes.done;
    }
    // What shells ask; a command could not answer, as it would need to know all commands.
    if (argv[0] === 'completion' && argv[2] === '--') {
      const { suggest, suggestionLines } = await import('./completion/suggest.ts');
      context.io.stdout.write(suggestionLines(await suggest(argv.slice(3), context)));
      return exitCodes.done;
    }
    const asked = argv.length === 0 && wantsScreen(context) ? ['tui'] : argv;
    const line = locate(asked[0] === 'help' ? [...asked.slice(1), '--help'] : asked);
    const { program, takesArguments } = await buildProgram(line, context);
    const rest = takesArguments ? jsonWithoutFields(line.rest) : line.rest;
    await program.parseAsync([...line.words, ...rest], { from: 'user' });
    return context.exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (context.isInterrupted) {
      context.out.warn('Interrupted.');
      return exitCodes.interrupted;
    }
    const { tellFailure } = await import('./failures/explain.ts');
    return tellFailure(error, context);
  }
}

/** `gateway` alone is the screen where a person sits at a terminal and a daemon can be spoken to; else it is the help. */
function wantsScreen(context: Context): boolean {
  const { io, env } = context;
  if (!io.stdin.isTty || !io.stdout.isTty || env.TERM === 'dumb' || env.CI) return false;
  try {
    return context.host() !== undefined;
  } catch {
    return false;
  }
}

/** Before an argument, only `--json=id,name` can tell fields from it: bare `--json` asks for all. */
function jsonWithoutFields(words: string[]): string[] {
  const end = words.indexOf('--');
  return words.map((word, at) => (word === '--json' && (end < 0 || at < end) ? '--json=' : word));
}
