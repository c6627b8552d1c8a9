import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

/** Why tmux is not available; undefined if it is. */
export function missingTmux(): string | undefined {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'tmux is not installed';
  }
}

export interface Tmux {
  /** Sends keys by tmux name. */
  keys(...names: string[]): Promise<void>;
  /** Types text literally. */
  text(text: string): Promise<void>;
  /** The text on the screen, with SGR codes if `hasStyles`. */
  screen(options?: { hasStyles?: boolean }): Promise<string>;
  /** Waits until the screen matches; the error contains the last screen. */
  shows(wanted: RegExp): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  end(): Promise<void>;
}

interface TmuxOptions {
  columns: number;
  rows: number;
  env: Record<string, string>;
}

let servers = 0;

/** Starts a shell in a separate tmux server. */
export async function startTmux({ columns, rows, env }: TmuxOptions): Promise<Tmux> {
  servers += 1;
  const server = ['-L', `gateway-test-${process.pid}-${servers}`, '-f', '/dev/null'];
  const size = ['-x', String(columns), '-y', String(rows)];
  const variables = {
    PATH: process.env.PATH ?? '',
    TERM: 'tmux-256color',
    LC_ALL: 'C.UTF-8',
    PS1: '$ ',
    ...env,
  };
  const words = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  const shell = `env -i ${words.join(' ')} bash --norc --noprofile`;
  await run('tmux', [...server, 'new-session', '-d', '-s', 'main', ...size, shell]);
  const { tmux, ended } = control(server);
  const screen = async ({ hasStyles = false } = {}) =>
    await tmux('capture-pane', '-p', ...(hasStyles ? ['-e'] : []), '-t', 'main');
  return {
    keys: async (...names) => void (await tmux('send-keys', '-t', 'main', ...names)),
    text: async (text) => void (await tmux('send-keys', '-t', 'main', '-l', text)),
    screen,
    async shows(wanted) {
      let last = '';
      const look = async () => {
        last = await screen();
        return wanted.test(last) && last;
      };
      return eventually(`${wanted}`, look, { everyMs: 20 }).catch((error: Error) => {
        throw new Error(`${error.message}; the screen is:\n${last}`);
      });
    },
    resize: async (wide, high) =>
      void (await tmux('resize-window', '-t', 'main', '-x', String(wide), '-y', String(high))),
    end: async () => {
      await tmux('kill-server').catch(() => {});
      await ended;
    },
  };
}

/** A client in control mode, which runs all commands of a test: each client of its own would be started as a copy of this process. */
function control(server: readonly string[]) {
  const attach = ['attach-session', '-f', 'no-output,ignore-size', '-t', 'main'];
  const client = spawn('tmux', ['-u', ...server, '-C', ...attach], { stdio: ['pipe', 'pipe', 'ignore'] });
  client.stdin.on('error', () => {});
  const asked: PromiseWithResolvers<string>[] = [];
  let lines: string[] = [];
  createInterface(client.stdout).on('line', (line) => {
    // The answer to a command of this client is between `%begin` and `%end` or `%error`, which end with a 1.
    const [, mark] = /^%(begin|end|error) \d+ \d+ 1$/.exec(line) ?? [];
    if (mark === undefined) return void lines.push(line);
    if (mark === 'end') asked.shift()?.resolve(`${lines.join('\n')}\n`);
    if (mark === 'error') asked.shift()?.reject(new Error(lines.join('\n')));
    lines = [];
  });
  const ended = once(client, 'close').then(() => {
    for (const { reject } of asked) reject(new Error('tmux has ended'));
  });
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const tmux = (...words: string[]): Promise<string> => {
    const answer = Promise.withResolvers<string>();
    asked.push(answer);
    client.stdin.write(`${words.map(quoted).join(' ')}\n`);
    return answer.promise;
  };
  return { tmux, ended };
}
