import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { localName, readHostFile } from '../../hosts/host-file.ts';
import { readDaemonFile } from '../../hosts/local-daemon.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';

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

/** Reads files alone: no daemon is asked. */
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
