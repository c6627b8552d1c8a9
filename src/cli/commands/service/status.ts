import { existsSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { readDaemonFile } from '../../hosts/local-daemon.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';
import { run, serviceManager } from './manager.ts';

export const serviceStatusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway service status'))
    .action(() => showStatus(context));

/** Exit code 1 where it does not run. */
async function showStatus(context: Context): Promise<void> {
  const manager = serviceManager(context);
  const { code, text } = await run(manager.ask, context.env);
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
