import type { World } from '../../../../world.ts';
import { startCreate } from '../../compaction/within-create.ts';
import { queuedEvents } from '../../formats/responses/stream.ts';
import type { Inference } from '../../neutral.ts';
import type { InferenceDeps } from '../../pipeline/start-call.ts';
import { whenAborted } from '../../pipeline/when-aborted.ts';
import {
  type RespondCall,
  responsesEndpoint,
  showsService,
  startOf,
  type Understood,
} from '../request/respond.ts';
import type { BackgroundStore } from './background-store.ts';
import { EventLog } from './event-log.ts';
import { Run } from './run.ts';

export interface BackgroundDeps extends InferenceDeps {
  background: BackgroundStore;
  world: Pick<World, 'now' | 'elapsed' | 'sleep'>;
  /** So many are made at once, of all callers; read anew at each call. */
  runsMax: number;
}

interface Understanding extends Understood {
  /** The caller's own items as they are stored, JSON text. */
  input: string;
}

/**
 * Calls a provider and writes the response down as queued. What can be refused is refused here, by a status: models,
 * limits, the balance; later failures are told by the response.
 */
export async function startRun(deps: BackgroundDeps, call: RespondCall, understanding: Understanding) {
  const { inference, options, input, own } = understanding;
  const { caller, requestId } = call;
  const start = startOf(deps, call, call.run ? own : []);
  const abort = new AbortController();
  if (call.run) whenAborted(call.run.stopped, () => abort.abort('cancelled'));
  const admitted = Promise.withResolvers<void>();
  const beginning = startCreate(
    {
      ...deps,
      publish(event) {
        if (event.type === 'request.started') admitted.resolve();
        deps.publish(event);
      },
    },
    {
      body: call.body,
      caller,
      requestId,
      endpoint: responsesEndpoint,
      inference: streamed(inference),
      options,
      signal: abort.signal,
    },
  );
  await Promise.race([admitted.promise, beginning]);
  const { id } = start.resource as { id: string };
  const queued = JSON.stringify({ ...start.resource, status: 'queued' });
  const stored = deps.background.start({
    id,
    workspaceId: start.workspaceId,
    requestId,
    previousId: start.previousId,
    streamed: call.body.stream === true,
    isRunning: true,
    lastSequence: null,
    createdAt: start.createdAt,
    expiresAt: start.createdAt + deps.responsesKeptMs,
    input,
    body: queued,
  });
  const log =
    call.body.stream === true
      ? new EventLog({ responseId: id, store: deps.background, world: deps.world })
      : undefined;
  void log?.append(queuedEvents(start.resource));
  const serviceEvents = showsService(call, options);
  const run = new Run(deps, { start, serviceEvents, log, abort }, { beginning, stored });
  return { run, stored, queued };
}

/** A stream can be ended in the middle, and is metered as it comes. */
function streamed(inference: Inference): Inference {
  return { ...inference, stream: true };
}
