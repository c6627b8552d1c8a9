import type { DaemonModule } from '../shared/daemon-module.ts';
import { version } from '../shared/version.ts';

interface MainOptions {
  /** Loads the daemon; handed in, because the CLI and the daemon do not import each other. */
  serve: () => Promise<DaemonModule>;
}

/** The program: reads `process.argv`, runs one command, sets the exit code. */
export async function main({ serve }: MainOptions): Promise<void> {
  const argv = process.argv.slice(2);
  // The one answer that needs nothing else is given before anything else is loaded.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    const { stdout } = process;
    const error = await new Promise<Error | null | undefined>((resolve) => {
      stdout.once('error', resolve);
      stdout.write(`${version}\n`, resolve);
    });
    if (error) (await import('./terminal/exit-on-failed-write.ts')).exitOnFailedWrite(stdout, error);
    return;
  }
  const [{ runProgram }, { processContext }] = await Promise.all([
    import('./program.ts'),
    import('./process-context.ts'),
  ]);
  process.exitCode = await runProgram(argv, processContext({ serve }));
}
