import { expect } from 'vitest';
import { exitCodes } from '../../src/shared/errors.ts';
import { commandLines } from './command-lines.ts';
import { ownKeysConfig } from './daemon-with-stranger.ts';
import { type RunOptions, runCli } from './run-cli.ts';
import { startDaemon } from './start-daemon.ts';
import { addPerson } from './users.ts';

const escapeCode = '\u001b';
export const colour = new RegExp(`${escapeCode}\\[[\\d;]*m`);

/** The exit code of a command line of `commandLines`: checking what is unreachable prints a result and sets the code. */
export const codeOf = (name: string) =>
  ['provider-keys check', 'peer check', 'alerts test'].includes(name) ? exitCodes.tryLater : exitCodes.done;

/** Starts a daemon that every line of `commandLines` can be run against. */
export async function startCommandDaemon() {
  const daemon = await startDaemon({ config: ownKeysConfig });
  const run = (args: string[], options: RunOptions = {}) =>
    runCli(args, { ...options, env: { GATEWAY_HOME: daemon.home, ...options.env } });
  await addPerson(daemon, 'ann');
  await run(['provider-keys', 'set', 'openai'], { stdin: 'sk-example-0123456789abcdef' });

  /** What a path like `.key.id` selects in the JSON of a command, without jq, which takes longer than the command. */
  async function get(args: string[], path: string, options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await run([...args, '--json'], options);
    expect([code, stderr]).toEqual([exitCodes.done, stderr]);
    // biome-ignore lint/suspicious/noExplicitAny: the JSON of any command.
    return path.match(/\w+/g)?.reduce((value: any, key) => value[key], JSON.parse(stdout));
  }

  return {
    daemon,
    run,
    /** Runs a line of `commandLines` with more arguments, from a state of its own. */
    async call(name: string, more: string[] = [], options: RunOptions = {}) {
      const { args, options: own } = await lineOf(name).make(get);
      return await run([...args, ...more], { ...own, ...options });
    },
    /** Returns a function that runs a line in a way that fails before it changes anything. */
    failing(name: string) {
      let line: ReturnType<ReturnType<typeof lineOf>['make']> | undefined;
      return async (more: string[], env?: Record<string, string>) => {
        line ??= lineOf(name).make(get);
        const { args, options } = await line;
        return await run([...args, ...more], { ...options, ...(env && { env }) });
      };
    },
  };
}

function lineOf(name: string) {
  const line = commandLines[name];
  if (line === undefined) throw new Error(`${name} has no command line`);
  return line;
}
