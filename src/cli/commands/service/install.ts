import { mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { foldersOf } from '../../../shared/folders.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { readDaemonFile } from '../../hosts/local-daemon.ts';
import { example } from '../example.ts';
import { run, type ServiceManager, serviceManager } from './manager.ts';
import { environmentText, type ServiceFacts } from './texts.ts';

export const installServiceCommand = (context: Context) =>
  new Command('install')
    .option('--config <file>', 'the configuration file, where it is not the usual one')
    .option('--env <names>', 'further variables to keep for the service, as in GROQ_API_KEY,OTHER')
    .option('--print', 'print what would be written, and do nothing')
    .addHelpText('after', example('gateway service install --env GROQ_API_KEY'))
    .action((options) => install(context, options));

interface Wishes {
  config?: string;
  env?: string;
  print?: true;
}

async function install(context: Context, { config, env: names, print }: Wishes): Promise<void> {
  const manager = serviceManager(context);
  const environmentFile = `${foldersOf(context).config}/service.env`;
  const facts = factsOf(context, { config, environmentFile });
  const text = manager.text(facts);
  if (print) return context.out.text(text);
  const { env } = context;
  const running = readDaemonFile(context);
  const isService = (await run(manager.ask, env)).code === 0;
  if (running && !isService) {
    throw new CliError(`A daemon runs already (process ${running.pid}).`, {
      exit: exitCodes.failed,
      next: 'Stop it first: gateway stop',
    });
  }
  writePrivate(environmentFile, environmentText(env, names?.split(',') ?? []), { mode: 0o600 });
  writePrivate(manager.file, text, { mode: 0o644 });
  await verify(context, manager);
  if (context.platform === 'darwin' && isService) await run(manager.stop[0] ?? [], env);
  for (const command of manager.start) await must(context, command);
  if (context.out.wantsJson()) {
    await context.out.document({ file: manager.file, environment_file: environmentFile });
  }
  context.out.note(`Written: ${manager.file}, and the variables it gets: ${environmentFile}`);
  context.out.note(
    'The daemon runs, and starts with your login. See: gateway service status, gateway logs -f',
  );
  if (context.platform === 'linux') {
    context.out.note('To have it run before you log in, too: loginctl enable-linger');
  }
}

interface Given {
  config: string | undefined;
  environmentFile: string;
}

/** The paths hold whatever the PATH of the service is. */
function factsOf({ env }: Context, { config, environmentFile }: Given): ServiceFacts {
  return {
    node: process.execPath,
    program: realpathSync(process.argv[1] ?? ''),
    environmentFile,
    home: env.GATEWAY_HOME ? resolve(env.GATEWAY_HOME) : undefined,
    configFile: config === undefined ? undefined : resolve(config),
  };
}

/** Keys are in it: it is made for its owner alone, and never half there. */
function writePrivate(file: string, text: string, { mode }: { mode: number }): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}.partial`;
  writeFileSync(partial, text, { mode, flag: 'wx' });
  renameSync(partial, file);
}

/** Where systemd brings its checker, a unit that it would not take is told before it is used. */
async function verify({ platform, env, out }: Context, { file }: ServiceManager): Promise<void> {
  if (platform !== 'linux') return;
  const { code, text } = await run(['systemd-analyze', '--user', 'verify', file], env);
  if (code !== undefined && code !== 0) out.warn(`systemd-analyze says: ${text}`);
}

async function must({ env }: Context, command: string[]): Promise<void> {
  const { code, text } = await run(command, env);
  if (code === 0) return;
  throw new CliError(`${command.join(' ')} failed: ${text}`, {
    exit: exitCodes.failed,
    next: 'The files are written; the service manager of this session does not take them.',
  });
}
