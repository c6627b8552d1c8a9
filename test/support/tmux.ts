import { execFile, execFileSync } from 'node:child_process';
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
  const socket = `gateway-test-${process.pid}-${servers}`;
  const tmux = (...args: string[]) => run('tmux', ['-L', socket, '-f', '/dev/null', ...args]);
  const size = ['-x', String(columns), '-y', String(rows)];
  const variables = {
    PATH: process.env.PATH ?? '',
    TERM: 'tmux-256color',
    LC_ALL: 'C.UTF-8',
    PS1: '$ ',
    ...env,
  };
  const words = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  await tmux('new-session', '-d', '-s', 'main', ...size, `env -i ${words.join(' ')} bash --norc --noprofile`);
  const screen = async ({ hasStyles = false } = {}) =>
    (await tmux('capture-pane', '-p', ...(hasStyles ? ['-e'] : []), '-t', 'main')).stdout;
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
      return eventually(`${wanted}`, look, { everyMs: 50 }).catch((error: Error) => {
        throw new Error(`${error.message}; the screen is:\n${last}`);
      });
    },
    resize: async (wide, high) =>
      void (await tmux('resize-window', '-t', 'main', '-x', String(wide), '-y', String(high))),
    end: async () => void (await tmux('kill-server').catch(() => {})),
  };
}
