import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { hostUrl } from '../hosts/host-address.ts';
import { changeHostFile, findHostEntry, localName, loggedOut, readHostFile } from '../hosts/host-file.ts';
import { noSuchHost } from '../hosts/hosts.ts';
import { readDaemonFile } from '../hosts/local-daemon.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { dropLogin, localIsTaken } from './login.ts';

export const addHostCommand = (context: Context) =>
  new Command('add')
    .argument('<name>', 'the name to use for it')
    .argument('<url>', 'its address')
    .option('--use', 'make it the host in use')
    .addHelpText('after', example('gateway host add work https://gateway.example.org --use'))
    .action((name, url, { use }) => addHost(context, { name, address: url, use }));

interface NewHost {
  name: string;
  address: string;
  use?: true | undefined;
}

async function addHost(context: Context, { name, address, use }: NewHost): Promise<void> {
  if (name === localName) throw localIsTaken();
  if (!/^[\w.:-]{1,100}$/.test(name) || /^(https?|unix):/.test(name)) {
    throw new CliError(`"${name}" is not a valid host name. Use letters, digits and . : - _`, {
      exit: exitCodes.usage,
    });
  }
  const url = hostUrl(address);
  const known = findHostEntry(readHostFile(context), name);
  if (known && known.url !== url) {
    throw new CliError(`${name} is ${known.url}.`, {
      exit: exitCodes.failed,
      next: `Remove that host first: gateway host remove ${name}`,
    });
  }
  changeHostFile(context, (file) => {
    file.hosts[name] = known ?? loggedOut(url);
    if (use) file.current = name;
  });
  if (context.out.wantsJson()) await context.out.document({ name, url });
  if (!known?.login) context.out.note(`Log in with: gateway login ${name}`);
}

export const useHostCommand = (context: Context) =>
  new Command('use')
    .argument('<host>', `the host to connect to; ${localName} is this machine's daemon`)
    .addHelpText('after', example('gateway host use work'))
    .action((name) => chooseHost(context, name));

async function chooseHost(context: Context, name: string): Promise<void> {
  if (name !== localName && !findHostEntry(readHostFile(context), name)) throw noSuchHost(name);
  changeHostFile(context, (file) => {
    file.current = name === localName ? null : name;
  });
  if (context.out.wantsJson()) await context.out.document({ name });
  if (context.env.GATEWAY_HOST) context.out.warn('GATEWAY_HOST is set and takes precedence.');
}

export const listHostsCommand = (context: Context) =>
  new Command('list')
    .addHelpText('after', example('gateway host list --json=name,url'))
    .action(() => listHosts(context));

interface HostRow {
  name: string;
  url: string | null;
  is_current: boolean;
  user: string | null;
  login: string | null;
}

/** Reads only files; no daemon is called. */
async function listHosts(context: Context): Promise<void> {
  const { hosts, current } = readHostFile(context);
  const local: HostRow = {
    name: localName,
    url: readDaemonFile(context)?.url ?? null,
    is_current: current === null,
    user: null,
    login: null,
  };
  const others = Object.entries(hosts).map(
    ([name, { url, user, login }]): HostRow => ({ name, url, is_current: name === current, user, login }),
  );
  await context.out.table([local, ...others], columns, { empty: 'No hosts.' });
}

const columns: Column<HostRow>[] = [
  { title: 'name', value: ({ name }) => name },
  { title: 'url', value: ({ url }) => url, show: ({ url }) => url ?? 'not running' },
  {
    title: 'in use',
    value: ({ is_current }) => is_current,
    show: ({ is_current }) => (is_current ? 'yes' : ''),
  },
  { title: 'user', value: ({ user }) => user, show: ({ user }) => user ?? '' },
  { title: 'login', value: ({ login }) => login, show: ({ login }) => login ?? '' },
];

export const removeHostCommand = (context: Context) =>
  new Command('remove')
    .argument('<host>', 'the host to remove')
    .addOption(yesOption())
    .addHelpText('after', example('gateway host remove work --yes'))
    .action((name, { yes }) => removeHost(context, name, { yes }));

async function removeHost(
  context: Context,
  name: string,
  { yes }: { yes?: true | undefined },
): Promise<void> {
  const entry = findHostEntry(readHostFile(context), name);
  if (!entry) {
    if (name !== localName) throw noSuchHost(name);
    throw usageError(`${localName} is this machine's daemon and cannot be removed.`);
  }
  await confirm(context, entry.login ? `Log out of ${name} and remove it?` : `Remove ${name}?`, { yes });
  await dropLogin(context, name);
  changeHostFile(context, (file) => {
    delete file.hosts[name];
    if (file.current === name) file.current = null;
  });
  if (context.out.wantsJson()) await context.out.document({ name, removed: true });
  context.out.note(`Removed ${name}.`);
}
