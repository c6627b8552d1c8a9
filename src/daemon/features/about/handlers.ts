import {
  checkCollector,
  type DaemonStatus,
  getServiceStatus,
  getStatus,
  health,
  openApi,
  ready,
  type ServiceStatus,
  stopDaemon,
} from '../../../shared/contract/daemon.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { implement, RelayReply } from '../../base/handler.ts';

/** A daemon that has not renewed its term for so long gets no more calls from a proxy, in milliseconds. */
const overdueMs = 3000;

export interface AboutDependencies {
  status(): Promise<DaemonStatus>;
  serviceStatus(): Promise<ServiceStatus>;
  /** Asks the collector of spans; null without one. */
  checkCollector(): Promise<Omit<Result<typeof checkCollector>, 'object' | 'collector'> | null>;
  collector: () => string | null;
  /** Starts to stop and returns immediately, so that the response can still be sent. */
  stop(): void;
  pid: number;
  storageState(): { writable: boolean; reason: string | undefined };
  /** Milliseconds since the daemon last renewed its term, by which others know that it runs. */
  sinceRenewal(): number;
  /** Describes the whole API; called once. */
  openApiDocument(): unknown;
}

export const aboutHandlers = (deps: AboutDependencies) => {
  let document: string | undefined;
  return [
    implement(health, async () => ({ status: 'ok' })),

    implement(ready, async () => {
      const { writable, reason } = deps.storageState();
      if (!writable) throw new ApiError('unavailable', { message: `Nothing can be written: ${reason}` });
      if (deps.sinceRenewal() > overdueMs)
        throw new ApiError('unavailable', { message: 'The database server does not answer in time.' });
      return { status: 'ready' };
    }),

    implement(openApi, async () => {
      document ??= JSON.stringify(deps.openApiDocument());
      return new RelayReply({ 'content-type': 'application/json; charset=utf-8' }, document);
    }),

    implement(getStatus, () => deps.status()),

    implement(getServiceStatus, () => deps.serviceStatus()),

    implement(checkCollector, async () => {
      const answer = await deps.checkCollector();
      const nothing = { problem: null, message: 'no spans are sent', remedy: null };
      return { object: 'collector.check' as const, collector: deps.collector(), ...(answer ?? nothing) };
    }),

    implement(stopDaemon, async () => {
      deps.stop();
      return { stopping: true, pid: deps.pid };
    }),
  ];
};
