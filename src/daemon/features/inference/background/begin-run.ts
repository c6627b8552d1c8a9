import type { World } from '../../../world.ts';
import type { InferenceNeeds } from '../begin.ts';
import { beginCreate } from '../compaction/within-create.ts';
import type { Inference } from '../neutral.ts';
import {
  type RespondCall,
  responsesEndpoint,
  showsService,
  startOf,
  type Understood,
} from '../responses/respond.ts';
import { queuedEvents } from '../responses/stream.ts';
import { whenAborted } from '../when-aborted.ts';
import type { BackgroundStore } from './background-store.ts';
import { EventLog } from './event-log.ts';
import { Run } from './run.ts';

export interface BackgroundNeeds extends InferenceNeeds {
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
export async function beginRun(needs: BackgroundNeeds, call: RespondCall, understanding: Understanding) {
  const { inference, wishes, input, own } = understanding;
  const { caller, requestId } = call;
  const start = startOf(needs, call, call.run ? own : []);
  const abort = new AbortController();
  if (call.run) whenAborted(call.run.stopped, () => abort.abort('cancelled'));
  const admitted = Promise.withResolvers<void>();
  const beginning = beginCreate(
    {
      ...needs,
      publish(event) {
        if (event.type === 'request.started') admitted.resolve();
        needs.publish(event);
      },
    },
    {
      body: call.body,
      caller,
      requestId,
      endpoint: responsesEndpoint,
      inference: streamed(inference),
      wishes,
      signal: abort.signal,
    },
  );
  await Promise.race([admitted.promise, beginning]);
  const { id } = start.resource as { id: string };
  const queued = JSON.stringify({ ...start.resource, status: 'queued' });
  const stored = needs.background.start({
    id,
    workspaceId: start.workspaceId,
    requestId,
    previousId: start.previousId,
    streamed: call.body.stream === true,
    isRunning: true,
    lastSequence: null,
    createdAt: start.createdAt,
    expiresAt: start.createdAt + needs.responsesKeptMs,
    input,
    body: queued,
  });
  const log =
    call.body.stream === true
      ? new EventLog({ responseId: id, store: needs.background, world: needs.world })
      : undefined;
  void log?.append(queuedEvents(start.resource));
  const serviceEvents = showsService(call, wishes);
  const run = new Run(needs, { start, serviceEvents, log, abort }, { beginning, stored });
  return { run, stored, queued };
}

/** A stream can be ended in the middle, and is metered as it comes. */
function streamed(inference: Inference): Inference {
  return { ...inference, stream: true };
}
