import { Argument, Command } from '@commander-js/extra-typings';
import type { Daemon } from '../../shared/contract/daemons.ts';
import { listDaemons, removeDaemon } from '../../shared/endpoints.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const listDaemonsCommand = (context: Context) =>
  new Command('list')
    .addHelpText('after', example("gateway daemons list --jq '.[] | select(.runs_shared_jobs) | .address'"))
    .action(async () => {
      const { data } = await context.client().call(listDaemons, {});
      await context.out.table(data, columnsOf(context), { empty: 'No daemons.' });
    });

export const removeDaemonCommand = (context: Context) =>
  new Command('remove')
    .addArgument(new Argument('<number>', 'the number of a daemon that has ended'))
    .addHelpText('after', example('gateway daemons remove 3'))
    .action(async (daemon) => {
      const removed = await context.client().call(removeDaemon, { params: { daemon } });
      return context.out.done(removed, `Removed daemon ${daemon}; its work is finished.`);
    });

function columnsOf(context: Context): Column<Daemon>[] {
  const time = (at: string | null) => (at === null ? '' : ago(at, context.now()));
  return [
    { title: 'number', value: ({ number }) => number, align: 'right' },
    { title: 'name', value: ({ name }) => name, show: ({ name }) => name ?? '' },
    { title: 'address', value: ({ address }) => address, show: ({ address }) => address ?? '' },
    { title: 'version', value: ({ version }) => version, show: ({ version }) => version ?? '' },
    {
      title: 'state',
      value: ({ state }) => state,
      style: ({ state }) => (state === 'running' ? 'green' : 'yellow'),
    },
    { title: 'started', value: ({ started_at }) => started_at, show: ({ started_at }) => time(started_at) },
    { title: 'renewed', value: ({ renewed_at }) => renewed_at, show: ({ renewed_at }) => time(renewed_at) },
    {
      title: 'jobs',
      value: ({ runs_shared_jobs }) => runs_shared_jobs,
      show: ({ runs_shared_jobs }) => (runs_shared_jobs ? 'shared' : ''),
    },
  ];
}
