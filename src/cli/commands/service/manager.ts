import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { exitCodes } from '../../../shared/errors.ts';
import { foldersOf } from '../../../shared/folders.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { launchdLabel, plistText, type ServiceFacts, unitText } from './texts.ts';

/** What keeps services on a platform: its file, and the commands that tell it so. */
export interface ServiceManager {
  file: string;
  text(facts: ServiceFacts): string;
  start: string[][];
  stop: string[][];
  /** Succeeds while it runs. */
  ask: string[];
}

const unitName = 'gateway.service';

/** systemd or launchd, for this user alone. */
export function serviceManager(context: Context): ServiceManager {
  const { platform, env, home } = context;
  if (platform === 'linux') {
    const systemctl = (...words: string[]) => ['systemctl', '--user', ...words];
    return {
      file: `${env.XDG_CONFIG_HOME || `${home}/.config`}/systemd/user/${unitName}`,
      text: unitText,
      start: [systemctl('daemon-reload'), systemctl('enable', unitName), systemctl('restart', unitName)],
      stop: [systemctl('disable', '--now', unitName)],
      ask: systemctl('is-active', unitName),
    };
  }
  if (platform === 'darwin') {
    const domain = `gui/${process.getuid?.() ?? 501}`;
    const file = `${home}/Library/LaunchAgents/${launchdLabel}.plist`;
    return {
      file,
      text: (facts) => plistText(facts, { logFile: `${foldersOf(context).data}/service.log` }),
      start: [['launchctl', 'bootstrap', domain, file]],
      stop: [['launchctl', 'bootout', `${domain}/${launchdLabel}`]],
      ask: ['launchctl', 'print', `${domain}/${launchdLabel}`],
    };
  }
  throw new CliError('Services are made for systemd and launchd only.', {
    exit: exitCodes.failed,
    next: `Have this started at login: gateway serve (${dirname(process.execPath)})`,
  });
}

export interface Ran {
  /** Undefined where the program is not there. */
  code: number | undefined;
  text: string;
}

/** Runs a command with this command's environment. Never rejects. */
export function run([program = '', ...words]: string[], env: Context['env']): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, words, { env }, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`.trim();
      if (!error) return resolve({ code: 0, text });
      resolve({ code: typeof error.code === 'number' ? error.code : undefined, text: text || error.message });
    });
  });
}
