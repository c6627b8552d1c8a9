import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

/** Why a real Secret Service is unavailable; undefined if it is available. */
export const noSecretService = missing();

if (noSecretService !== undefined)
  process.stderr.write(`Tests of a real keychain are skipped: ${noSecretService}\n`);

function missing(): string | undefined {
  if (process.platform !== 'linux') return 'there is a Secret Service on Linux only';
  for (const program of ['dbus-daemon', 'dbus-send', 'gnome-keyring-daemon']) {
    try {
      execFileSync('which', [program], { stdio: 'ignore' });
    } catch {
      return `${program} is not installed (apt-get install dbus gnome-keyring libsecret-1-0)`;
    }
  }
  return undefined;
}

/** A separate D-Bus session with a real gnome-keyring, initially empty. */
export interface SecretService {
  /** What a program needs in its environment to be in this session. */
  env: Record<string, string>;
  /** Starts the keyring's daemon, unlocked or locked. */
  start(state: 'unlocked' | 'locked'): Promise<void>;
  /** The daemon stops answering, as while it waits for user input. */
  hang(): void;
  goOn(): void;
  /** Ends the daemon; the session stays. */
  stop(): Promise<void>;
  /** Ends everything and removes its files. */
  close(): Promise<void>;
}

const busConfig = (folder: string) => `<busconfig>
  <type>session</type>
  <listen>unix:path=${folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>`;

export async function startSecretService(): Promise<SecretService> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-keyring-'));
  await writeFile(join(folder, 'bus.conf'), busConfig(folder));
  const bus = spawn('dbus-daemon', ['--nofork', `--config-file=${folder}/bus.conf`, '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(bus.stdout, 'data');
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_RUNTIME_DIR: folder,
    XDG_CACHE_HOME: folder,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/bus`,
  };
  let keyring: ChildProcess | undefined;
  const stop = async () => {
    const ended = keyring;
    keyring = undefined;
    if (ended === undefined) return;
    ended.kill('SIGCONT');
    await killed(ended);
  };
  return {
    env,
    async start(state) {
      await stop();
      const unlocking = state === 'unlocked' ? ['--unlock'] : [];
      const started = spawn('gnome-keyring-daemon', ['--foreground', ...unlocking, '--components=secrets'], {
        env,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      keyring = started;
      started.stdin.end('password');
      await eventually('the keyring answers', () => owns(env));
    },
    hang: () => void keyring?.kill('SIGSTOP'),
    goOn: () => void keyring?.kill('SIGCONT'),
    stop,
    async close() {
      await stop();
      await killed(bus);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Whether the session has a secret service with a keyring. */
function owns(env: Record<string, string>): boolean {
  try {
    const answer = execFileSync(
      'dbus-send',
      [
        '--session',
        '--print-reply',
        '--dest=org.freedesktop.secrets',
        '/org/freedesktop/secrets',
        'org.freedesktop.Secret.Service.ReadAlias',
        'string:default',
      ],
      { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    return answer.includes('/org/freedesktop/secrets/collection/');
  } catch {
    return false;
  }
}
