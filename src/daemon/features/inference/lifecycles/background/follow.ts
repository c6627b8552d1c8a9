import { whenAborted } from '../../../../../shared/async/when-aborted.ts';
import type { Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseDone } from '../../../../../shared/http/sse.ts';
import type { World } from '../../../../base/world.ts';
import type { ResponsesStore } from '../../stored/responses-store.ts';
import type { BackgroundResponse, BackgroundStore, EventBatch } from './background-store.ts';
import { closingEvents, interruptedResponse } from './closing-events.ts';
import { textAfter } from './event-log.ts';
import type { BackgroundRun } from './run.ts';

/** How often the events of another daemon are looked for, in milliseconds. */
const lookEveryMs = 250;
/** Another daemon writes the last events of a response after its end. */
const lastEventsMs = 3000;

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
  world: Pick<World, 'now' | 'sleep'>;
  /** Set while the response is running here. */
  run: Pick<BackgroundRun, 'log' | 'ended'> | undefined;
  /** Whether other daemons run responses, too. */
  hasOthers: () => boolean;
  /** Whether another daemon runs this one. */
  isElsewhere: () => Promise<boolean>;
}

/**
 * Yields the events of a background response after a sequence: stored ones, then new ones, up to `[DONE]`. When the
 * stored events break off, because the daemon died, the last events are built from the response object.
 */
export async function* follow(deps: FollowDeps, following: Following): AsyncGenerator<string> {
  const { background, responses, run, world } = deps;
  const { workspaceId, id, after } = following;
  const { signal, release } = leaving(following);
  try {
    let seen = after;
    for await (const batch of batches(deps, following, signal)) {
      seen = batch.lastSequence;
      yield batch.text;
    }
    if (run) await Promise.race([run.ended, aborted(signal)]);
    if (signal.aborted) return;
    const row = await background.byId(workspaceId, id, world.now());
    const stored = await responses.byId(workspaceId, id, world.now());
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
  deps: FollowDeps,
  following: Following,
  signal: AbortSignal,
): AsyncGenerator<EventBatch> {
  const { run } = deps;
  if (run?.log) return yield* run.log.follow(following.after, signal);
  let seen = following.after;
  while (!signal.aborted) {
    const batch = await nextBatch(deps, { ...following, after: seen }, signal);
    if (!batch) return;
    yield { ...batch, text: textAfter(batch, seen) };
    seen = batch.lastSequence;
  }
}

/** The next stored batch; undefined after the last one. While another daemon runs the response, waits for it. */
async function nextBatch(
  { background, world, hasOthers, isElsewhere }: FollowDeps,
  { workspaceId, id, after }: Following,
  signal: AbortSignal,
): Promise<EventBatch | undefined> {
  for (let lastMs = lastEventsMs; ; ) {
    const batch = await background.eventsAfter(id, after);
    if (batch || signal.aborted || !hasOthers()) return batch;
    if (!(await isElsewhere())) {
      const row = await background.byId(workspaceId, id, world.now());
      if (row?.lastSequence == null || after >= row.lastSequence || lastMs <= 0) return undefined;
      lastMs -= lookEveryMs;
    }
    await world.sleep(lookEveryMs, signal).catch(() => {});
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
