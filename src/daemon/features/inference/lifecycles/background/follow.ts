import type { Json } from '../../../../../shared/invalid-request.ts';
import { sseDone } from '../../../../../shared/sse.ts';
import { whenAborted } from '../../../../../shared/when-aborted.ts';
import type { ResponsesStore } from '../../stored/responses-store.ts';
import type { BackgroundResponse, BackgroundStore, EventBatch } from './background-store.ts';
import { closingEvents, interruptedResponse } from './closing-events.ts';
import { textAfter } from './event-log.ts';
import type { BackgroundRun } from './run.ts';

export interface Following {
  workspaceId: string;
  id: string;
  /** Sequence of the last event that the reader has; -1 for none. */
  after: number;
  /** The signal of the reader's call. A drain does not end the reader, as it ends the response itself. */
  signal: AbortSignal;
  /** Aborted when the reader's key is revoked. */
  revoked: AbortSignal;
}

interface FollowDeps {
  background: BackgroundStore;
  responses: Pick<ResponsesStore, 'byId'>;
  now: () => number;
  /** Set while the response is running. */
  run: Pick<BackgroundRun, 'log' | 'ended'> | undefined;
}

/**
 * Yields the events of a background response after a sequence: stored ones, then new ones, up to `[DONE]`. When the
 * stored events break off, because the daemon died, the last events are built from the response object.
 */
export async function* follow(deps: FollowDeps, following: Following): AsyncGenerator<string> {
  const { background, responses, run } = deps;
  const { workspaceId, id, after } = following;
  const { signal, release } = leaving(following);
  try {
    let seen = after;
    for await (const batch of batches(deps, { id, after, signal })) {
      seen = batch.lastSequence;
      yield batch.text;
    }
    if (run) await Promise.race([run.ended, aborted(signal)]);
    if (signal.aborted) return;
    const row = await background.byId(workspaceId, id, deps.now());
    const stored = await responses.byId(workspaceId, id, deps.now());
    const response = stored ? (JSON.parse(stored.body) as Json) : unfinished(row);
    if (response && row && (row.lastSequence === null || seen < row.lastSequence)) {
      yield closingEvents(response, seen + 1);
    }
    // A reader that followed the run has its last event even if the response was deleted since.
    if (response || run) yield sseDone;
  } finally {
    release();
  }
}

/** A response whose run is over although its end could not be written. */
function unfinished(row: BackgroundResponse | undefined): Json | undefined {
  return row?.isRunning ? interruptedResponse(row.body) : undefined;
}

async function* batches(
  { background, run }: FollowDeps,
  { id, after, signal }: { id: string; after: number; signal: AbortSignal },
): AsyncGenerator<EventBatch> {
  if (run?.log) return yield* run.log.follow(after, signal);
  let seen = after;
  while (!signal.aborted) {
    const batch = await background.eventsAfter(id, seen);
    if (!batch) return;
    yield { ...batch, text: textAfter(batch, seen) };
    seen = batch.lastSequence;
  }
}

/** A signal that is aborted when the reader leaves or the reader's key is revoked. */
function leaving({ signal, revoked }: Following) {
  const left = new AbortController();
  const onSignal = () => {
    if (signal.reason !== 'draining') left.abort();
  };
  const releaseSignal = whenAborted(signal, onSignal);
  const releaseRevoked = whenAborted(revoked, () => left.abort());
  const release = () => {
    releaseSignal();
    releaseRevoked();
  };
  return { signal: left.signal, release };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void whenAborted(signal, resolve));
}
