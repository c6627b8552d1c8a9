import { keepTakingOver, whileLeading } from '../features/daemons/index.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature, Job } from './feature.ts';

interface JobsOptions {
  features: Required<Pick<Feature, 'jobs' | 'sharedJobs' | 'takeOver'>>;
  /** Called when the term of this daemon has ended: others may finish its work now. */
  onTermEnd: () => void;
}

/** Runs periodic work until aborted, that of the leader while this daemon is it, and takes over from daemons that end. */
export async function runJobs(
  { storage: { members, daemons }, log }: Pick<AppDeps, 'storage' | 'log'>,
  { features: { jobs, sharedJobs, takeOver }, onTermEnd }: JobsOptions,
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
    keepTakingOver({ store: daemons, members, log }, takeOver, { signal, onFailure }),
  ]);
  stopWatching();
}
