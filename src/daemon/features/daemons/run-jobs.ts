import type { Feature, Job } from '../../base/feature.ts';
import type { Log } from '../../base/log.ts';
import { whileLeading } from './leading.ts';
import type { Members } from './members.ts';
import type { DaemonsStore } from './store.ts';
import { keepTakingOver } from './take-over.ts';

interface JobsOptions {
  features: Required<Pick<Feature, 'jobs' | 'sharedJobs' | 'takeOver'>>;
  members: Members;
  store: DaemonsStore;
  log: Pick<Log, 'warn'>;
  /** Called when the term of this daemon has ended: others may finish its work now. */
  onTermEnd: () => void;
}

/** Runs periodic work until aborted, that of the leader while this daemon is it, and takes over from daemons that end. */
export async function runJobs(
  { features: { jobs, sharedJobs, takeOver }, members, store, log, onTermEnd }: JobsOptions,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (error: unknown) => log.warn({ err: error }, 'background work failed');
  const all = (work: readonly Job[], until: AbortSignal) =>
    Promise.all(work.map((job) => job(until, onFailure)));
  const stopWatching = members.onChange(() => {
    if (!members.hasTerm()) onTermEnd();
  });
  await Promise.all([
    all(jobs, signal),
    whileLeading(members, signal, (leading) => all(sharedJobs, leading)),
    keepTakingOver({ store, members, log }, takeOver, { signal, onFailure }),
  ]);
  stopWatching();
}
