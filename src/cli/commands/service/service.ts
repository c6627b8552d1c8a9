import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { baseFolder, foldersOf, fromHome } from '../../../shared/folders.ts';
import { linkedFile } from '../../change-file.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { readDaemonFile } from '../../hosts/local-daemon.ts';
import { example } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { configError, configLocation } from '../config.ts';
import {
  environmentText,
  launchdLabel,
  plistText,
  programsIn,
  type ServiceFacts,
  unitText,
} from './service-files.ts';

export const installServiceCommand = (context: Context) =>
  new Command('install')
    .option('--config <file>', 'the configuration file (default: the one in the config folder)')
    .option('--env <names>', 'additional environment variables for the service: LANG,TZ')
    .option('--print', 'print the service definition without installing it')
    .addHelpText('after', example('gateway service install'))
    .action((options) => install(context, options));

interface InstallOptions {
  config?: string;
  env?: string;
  print?: true;
}

async function install(context: Context, { config, env: names, print }: InstallOptions): Promise<void> {
  const manager = serviceManager(context);
  const environmentFile = `${foldersOf(context).config}/service.env`;
  const facts = factsOf(context, { config, environmentFile });
  const text = manager.text(facts);
  if (print) return context.out.text(text);
  const running = readDaemonFile(context);
  const isService = (await run(manager.probe, context)).code === 0;
  if (running && !isService) {
    throw new CliError(`The daemon is already running (process ${running.pid}).`, {
      exit: exitCodes.failed,
      next: 'Stop it first: gateway stop',
    });
  }
  const tools = await (await context.daemon()).loadConfigTools();
  const location = configLocation(context, config);
  const { faults } = await tools.explain(location);
  if (faults.length > 0) throw configError(faults, 'The service was not installed.');
  const wanted = [...(names?.split(',') ?? []), ...(await tools.secretVariables(location))];
  const before = existsSync(environmentFile) ? readFileSync(environmentFile, 'utf8') : '';
  writePrivate(environmentFile, environmentText(context.env, wanted, before), { mode: 0o600 });
  writePrivate(manager.file, text, { mode: 0o644 });
  await verify(context, manager);
  if (context.platform === 'darwin' && isService) await run(manager.stop[0] ?? [], context);
  for (const command of manager.start) await runOrThrow(context, command, manager);
  if (context.out.wantsJson()) {
    await context.out.document({ file: manager.file, environment_file: environmentFile });
  }
  context.out.note(`Wrote ${manager.file}, and its environment variables to ${environmentFile}.`);
  context.out.note(
    'The daemon is running, and starts when you log in. See: gateway service status, gateway logs -f',
  );
  if (context.platform === 'linux') {
    context.out.note('To start it at boot: loginctl enable-linger');
  }
}

interface FactsOptions {
  config: string | undefined;
  environmentFile: string;
}

/** With absolute paths, because the service may have another PATH. */
function factsOf({ env, home }: Context, { config, environmentFile }: FactsOptions): ServiceFacts {
  return {
    node: process.execPath,
    program: realpathSync(process.argv[1] ?? ''),
    environmentFile,
    home: env.GATEWAY_HOME ? resolve(fromHome(env.GATEWAY_HOME, home)) : undefined,
    configFile: config === undefined ? undefined : resolve(config),
  };
}

/** Writes a file in one step, readable only by its owner where it holds keys. */
function writePrivate(file: string, text: string, { mode }: { mode: number }): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const target = linkedFile(file);
  const partial = `${target}.${process.pid}.partial`;
  writeFileSync(partial, text, { mode, flag: 'wx' });
  renameSync(partial, target);
}

/** Warns about a unit file that systemd-analyze, where installed, rejects. */
async function verify(context: Context, { file }: ServiceManager): Promise<void> {
  if (context.platform !== 'linux') return;
  const { code, text } = await run(['systemd-analyze', '--user', 'verify', file], context);
  if (code !== undefined && code !== 0) context.out.warn(`systemd-analyze: ${text}`);
}

const attemptsMax = 5;
const inputOutputError = 5;

async function runOrThrow(context: Context, command: string[], { stop }: ServiceManager): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { code, text } = await run(command, context);
    if (code === 0) return;
    // launchd still has the service that it was told to end. Source: tomcounsell/ai#2013, openclaw/openclaw#48476.
    const isHeld = command[1] === 'bootstrap' && code === inputOutputError;
    if (!isHeld || attempt === attemptsMax) {
      throw new CliError(`${command.join(' ')} failed: ${text}`, {
        exit: exitCodes.failed,
        next: `The files are written. ${remedyFor(text)}`,
      });
    }
    await run(stop[0] ?? [], context);
    await context.sleep(1000);
  }
}

function remedyFor(text: string): string {
  if (/connect to bus|booted with systemd/i.test(text))
    return 'There is no session of this user here: log in as the user itself, without sudo or su; where there is no systemd, start gateway serve in another way.';
  if (/Bootstrap failed|Domain does not support/.test(text))
    return 'Log in on the screen of this Mac once: the service of a user needs its session there.';
  return 'The service manager did not accept them.';
}

export const uninstallServiceCommand = (context: Context) =>
  new Command('uninstall')
    .addHelpText('after', example('gateway service uninstall'))
    .action(() => uninstall(context));

/** Keeps data and configuration. */
async function uninstall(context: Context): Promise<void> {
  const manager = serviceManager(context);
  const { out } = context;
  const wasThere = existsSync(manager.file);
  if (wasThere) {
    for (const command of manager.stop) {
      const { code, text } = await run(command, context);
      if (code !== 0) out.warn(`${command.join(' ')}: ${text}`);
    }
  }
  rmSync(manager.file, { force: true });
  rmSync(`${foldersOf(context).config}/service.env`, { force: true });
  if (wasThere && context.platform === 'linux') await run(['systemctl', '--user', 'daemon-reload'], context);
  if (out.wantsJson()) return out.document({ file: manager.file, removed: wasThere });
  out.note(
    wasThere ? 'The service was removed. Data and configuration were kept.' : 'No service was installed.',
  );
}

export const serviceStatusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway service status'))
    .action(() => showStatus(context));

/**
 * What the installed service starts and is not there any more, as after another version of Node was installed in place of the one that
 * installed the service; undefined if all is there.
 */
export function missingProgram(context: Context): string | undefined {
  if (context.platform !== 'linux' && context.platform !== 'darwin') return undefined;
  const { file } = serviceManager(context);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return programsIn(text).find((program) => !existsSync(program));
}

/** The exit code is 1 if the service is not running. */
async function showStatus(context: Context): Promise<void> {
  const manager = serviceManager(context);
  const missing = missingProgram(context);
  if (missing !== undefined)
    context.out.warn(`The service starts ${missing}, which does not exist. Run: gateway service install`);
  const { code, text } = await run(manager.probe, context);
  const isInstalled = existsSync(manager.file);
  const running = code === 0 ? readDaemonFile(context) : undefined;
  const status: Status = {
    state: code === 0 ? 'running' : isInstalled ? 'stopped' : 'not installed',
    file: isInstalled ? manager.file : null,
    url: running?.url ?? null,
    pid: running?.pid ?? null,
    reason: code === 0 ? null : text.split('\n')[0] || null,
  };
  if (status.state !== 'running') context.exit = exitCodes.failed;
  await context.out.record(status, columns);
}

interface Status {
  state: 'running' | 'stopped' | 'not installed';
  file: string | null;
  url: string | null;
  pid: number | null;
  reason: string | null;
}

const columns: Column<Status>[] = [
  {
    title: 'state',
    value: ({ state }) => state,
    style: ({ state }) => (state === 'running' ? 'green' : 'yellow'),
    essential: true,
  },
  { title: 'file', value: ({ file }) => file },
  { title: 'url', value: ({ url }) => url },
  { title: 'pid', value: ({ pid }) => pid },
  { title: 'reason', value: ({ reason }) => reason },
];

/** A platform's service manager: its definition file and its commands. */
interface ServiceManager {
  file: string;
  text(facts: ServiceFacts): string;
  start: string[][];
  stop: string[][];
  /** Succeeds while the service is running. */
  probe: string[];
}

const unitName = 'gateway.service';

/** systemd or launchd, for this user. */
function serviceManager(context: Context): ServiceManager {
  const { platform, env, home } = context;
  if (platform === 'linux') {
    const systemctl = (...words: string[]) => ['systemctl', '--user', ...words];
    return {
      file: `${baseFolder(env.XDG_CONFIG_HOME) ?? `${home}/.config`}/systemd/user/${unitName}`,
      text: unitText,
      start: [systemctl('daemon-reload'), systemctl('enable', unitName), systemctl('restart', unitName)],
      stop: [systemctl('disable', '--now', unitName)],
      probe: systemctl('is-active', unitName),
    };
  }
  if (platform === 'darwin') {
    const domain = `gui/${process.getuid?.() ?? 501}`;
    const file = `${home}/Library/LaunchAgents/${launchdLabel}.plist`;
    return {
      file,
      text: (facts) => plistText(facts, { logFile: `${foldersOf(context).data}/service.log` }),
      start: [
        ['launchctl', 'enable', `${domain}/${launchdLabel}`],
        ['launchctl', 'bootstrap', domain, file],
      ],
      stop: [['launchctl', 'bootout', `${domain}/${launchdLabel}`]],
      probe: ['launchctl', 'print', `${domain}/${launchdLabel}`],
    };
  }
  throw new CliError('Services are supported only with systemd and launchd.', {
    exit: exitCodes.failed,
    next: `Start this at login yourself: gateway serve (${dirname(process.execPath)})`,
  });
}

interface CommandResult {
  /** Undefined if the program could not be started. */
  code: number | undefined;
  text: string;
}

/** Runs a command with this command's environment. Never rejects. */
function run([program = '', ...words]: string[], context: Context): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(program, words, { env: sessionOf(context) }, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`.trim();
      if (!error) return resolve({ code: 0, text });
      resolve({ code: typeof error.code === 'number' ? error.code : undefined, text: text || error.message });
    });
  });
}

/** With the folder by which systemctl finds its manager, which su, cron and some logins leave out. Source: MetPX/sarracenia#1319, geldata/gel#3237. */
function sessionOf({ env, platform }: Context): Context['env'] {
  const folder = `/run/user/${process.getuid?.()}`;
  if (platform !== 'linux' || env.XDG_RUNTIME_DIR || !existsSync(`${folder}/bus`)) return env;
  return { ...env, XDG_RUNTIME_DIR: folder };
}
