import { type Daemon, listDaemons, removeDaemon } from '../../../shared/contract/daemons.ts';
import { ApiError } from '../../../shared/errors.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { implement } from '../../base/handler.ts';
import type { DaemonRecord, DaemonsStore } from './store.ts';

interface DaemonHandlersDeps {
  store: Pick<DaemonsStore, 'list' | 'adopt' | 'remove'>;
  /** Finishes what a daemon left behind. */
  finish: (daemon: number) => Promise<unknown>;
}

export const daemonHandlers = ({ store, finish }: DaemonHandlersDeps) => [
  implement(listDaemons, async () => {
    const records = await store.list();
    const leader = records.find(({ isRunning }) => isRunning)?.number;
    return { object: 'list', data: records.map((record) => viewOf(record, leader)) };
  }),

  implement(removeDaemon, async ({ params: { daemon } }) => {
    const number = Number(daemon);
    const record = (await store.list()).find((each) => each.number === number);
    if (!record) throw notFound('daemon', daemon);
    if (record.isRunning) throw new ApiError('conflict', { message: running(record) });
    if (!(await store.adopt(number)))
      throw new ApiError('conflict', {
        message: `Another daemon is finishing the work of daemon ${daemon}.`,
      });
    await finish(number);
    await store.remove(number);
    return { id: daemon, object: 'daemon', deleted: true };
  }),
];

function running({ number, name, address }: DaemonRecord): string {
  const where = [name !== null && `on ${name}`, address !== null && `at ${address}`]
    .filter(Boolean)
    .join(' ');
  return `Daemon ${number} runs ${where}. Stop it with \`gateway stop\` there; if it is gone, try again in 10 seconds.`;
}

function viewOf(record: DaemonRecord, leader: number | undefined): Daemon {
  const { number, name, address, version, isRunning, startedAt, renewedAt, successor } = record;
  return {
    number,
    name,
    address,
    version,
    state: isRunning ? 'running' : 'ended',
    started_at: isoTime(startedAt),
    renewed_at: renewedAt === null ? null : isoTime(renewedAt),
    taken_over_by: successor,
    runs_shared_jobs: number === leader,
  };
}
