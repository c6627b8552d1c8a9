import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '../../../shared/errors.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { hostSecrets } from '../../../shared/masking/known-secrets.ts';
import { freeMemory } from '../../runtime/own-memory.ts';
import { collectGarbage } from '../../worker-threads/collect-garbage.ts';
import { ThreadLink } from '../../worker-threads/thread-link.ts';
import type { ContentDisk } from './content-disk.ts';
import { ContentKeeper } from './content-keeper.ts';
import {
  type Captured,
  type ContentRequests,
  type ContentSettings,
  type ContentWorkerData,
  contentsOf,
  type FromContent,
  type ToContent,
} from './content-messages.ts';
import { ContentNumbers } from './content-numbers.ts';
import { ContentShelves } from './content-shelves.ts';
import { keptOf } from './kept-content.ts';
import { MemoryShelf } from './memory-shelf.ts';
import { Redactor } from './redactor.ts';
import { searchContent } from './search-content.ts';

/**
 * After each batch, the thread rests for this many times as long as it took, so that it takes at most about 4 % of a core. What
 * comes faster is dropped.
 */
const restFactor = 24;
/** Without batches for so long, garbage is collected: what V8 allocates until it would do so is a few megabytes. */
const collectAfterMs = 10_000;
/** How long the request before is looked for. */
const composeMs = 200;
/** How long deleting goes on before others have their turn. */
const stepMs = 20;
/** How long one request searches; the next one goes on from there. */
const searchMs = 50;

/** Part of what was captured, and what is called with how many of it could not be stored. */
interface Batch {
  captured: Captured[];
  stored: (dropped: number) => void;
}

if (parentPort) {
  const port = parentPort;
  const { digestKey, disk: file } = workerData as ContentWorkerData;
  // Linux applies this to the calling thread, other systems to the whole process. Calls come first; with the lowest priority, a
  // machine with other work to do would keep those waiting who ask for content, and the end of the daemon.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  const numbers = new ContentNumbers();
  const memory = new MemoryShelf();
  // Without a file, SQLite is not loaded.
  const disk: ContentDisk | undefined =
    file &&
    new (await import('./content-disk.ts')).ContentDisk({
      ...file,
      numbers,
      warn: (warning) => warn(warning),
    });
  const shelves = new ContentShelves({ numbers, memory, disk: () => disk?.existing() });
  let settings: ContentSettings = {
    now: 0,
    memoryBytes: 0,
    redaction: { kinds: [], patterns: [] },
    secrets: [],
    disk: { days: 0, bytes: 0 },
  };
  const warn = (warning: string) => link.tell('warn', warning);
  let redactor: { rules: string; redactor: Redactor } | undefined;
  const redactorOf = (): Redactor => {
    const rules = JSON.stringify(settings.redaction);
    if (redactor?.rules !== rules) {
      const onTooSlow = () =>
        warn('the expressions of capture.redact_patterns take too long: such texts of calls are not kept');
      redactor = { rules, redactor: new Redactor(settings.redaction, onTooSlow) };
    }
    return redactor.redactor;
  };
  let current = redactorOf();
  const keeper = new ContentKeeper(shelves, digestKey, () => current);
  const waiting: Batch[] = [];
  const store = (captured: Captured): void => {
    try {
      if ('asked' in captured) keeper.asked(captured.asked);
      else if ('streamed' in captured) keeper.streamed(captured.streamed);
      else keeper.answered(captured.answered);
    } catch (error) {
      // What a call contains must not cost the content of all others; of a file that cannot be written, all is lost.
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_')) throw error;
    }
  };
  const isForDisk = (captured: Captured): boolean => {
    if ('asked' in captured) return captured.asked.level === 'disk';
    const { requestId } = 'streamed' in captured ? captured.streamed : captured.answered;
    return memory.find(requestId) === undefined;
  };
  /** Returns how many could not be stored. */
  const storeOnDisk = (batch: Captured[]): number => {
    if (batch.length === 0 || disk === undefined) return batch.length;
    const shelf = batch.some((captured) => 'asked' in captured) ? disk.shelf() : disk.existing();
    if (shelf === undefined) return batch.length;
    try {
      shelf.together(() => batch.forEach(store));
      if (shelf.isOver(settings.disk.bytes)) prune();
      return 0;
    } catch (error) {
      disk.failed(error);
      return batch.length;
    }
  };
  let isResting = false;
  const storeNext = (): void => {
    const batch = waiting.shift();
    if (batch === undefined) return;
    for (const captured of batch.captured) if (!isForDisk(captured)) store(captured);
    batch.stored(storeOnDisk(batch.captured.filter(isForDisk)));
    batch.captured.flatMap(contentsOf).forEach(freeMemory);
  };
  const storeAll = (): void => {
    while (waiting.length > 0) storeNext();
  };
  let isPruning = false;
  const prune = (): void => {
    if (isPruning) return;
    isPruning = true;
    const step = (): void => {
      const startedAt = performance.now();
      let hasMore = false;
      try {
        hasMore = disk?.existing()?.pruneStep(settings.now, settings.disk) ?? false;
      } catch (error) {
        disk?.failed(error);
      }
      isPruning = hasMore;
      if (hasMore) setTimeout(step, performance.now() - startedAt);
    };
    step();
  };
  let collecting: NodeJS.Timeout | undefined;
  const work = (): void => {
    if (isResting || waiting.length === 0) return;
    if (collecting) collecting.refresh();
    else collecting = setTimeout(collectGarbage, collectAfterMs).unref();
    const startedAt = performance.now();
    storeNext();
    isResting = true;
    setTimeout(
      () => {
        isResting = false;
        work();
      },
      (performance.now() - startedAt) * restFactor,
    );
  };
  const reading = <Question, Answer>(answer: (question: Question) => Answer) => {
    return (question: Question): Answer => {
      try {
        return answer(question);
      } catch (error) {
        disk?.failed(error);
        const cause = new Error(`content could not be read: ${messageOf(error)}`);
        throw new ApiError('unavailable', { cause });
      }
    };
  };
  /** Who asks sees all calls that ended before. */
  const afterAll = <Question, Answer>(answer: (question: Question) => Answer) =>
    reading((question: Question) => {
      storeAll();
      return answer(question);
    });
  /** The same for what takes long: calls are stored meanwhile. */
  const inSteps = <Question, Answer>(work: (question: Question) => Generator<void, Answer>) => {
    return async (question: Question): Promise<Answer> => {
      const steps = afterAll(work)(question);
      const next = reading(() => {
        const until = performance.now() + stepMs;
        for (;;) {
          const step = steps.next();
          if (step.done || performance.now() > until) return step;
        }
      });
      for (;;) {
        const step = next(undefined);
        if (step.done) return step.value;
        await new Promise(setImmediate);
      }
    };
  };
  const link = new ThreadLink<FromContent, ToContent>(port, {
    settings(given) {
      settings = given;
      for (const secret of settings.secrets) hostSecrets.add(secret);
      current = redactorOf();
      numbers.setTime(settings.now);
      memory.setBytesMax(settings.memoryBytes);
    },
    store(captured) {
      const { promise, resolve: stored } = Promise.withResolvers<number>();
      waiting.push({ captured, stored });
      work();
      return promise;
    },
    find: afterAll(({ workspaceId, requestId, page }) => keeper.find(workspaceId, requestId, page)),
    // Lists do not store what waits: they are asked for often.
    kept: reading((wanted) => {
      const captured = waiting.flatMap((batch) => batch.captured);
      return keptOf(shelves, wanted, captured);
    }),
    previews: afterAll(({ workspaceId, requestIds }) => keeper.previews(workspaceId, requestIds)),
    compose: afterAll(({ workspaceId, requestId }) =>
      keeper.compose(workspaceId, requestId, performance.now() + composeMs),
    ),
    remove: inSteps(({ workspaceId, requestId }) => keeper.remove(workspaceId, requestId)),
    select: afterAll((selection) => keeper.select(selection)),
    clear: inSteps((selection) => keeper.clear(selection)),
    search: afterAll((search) => searchContent(shelves, search, performance.now() + searchMs)),
    status: afterAll(({ workspaceId }) => statusOf(shelves, workspaceId)),
    isEmpty: afterAll(() => memory.isEmpty),
    prune: afterAll(({ isUsed }) => {
      if (!isUsed && disk?.existing()?.isEmpty) disk.destroy();
      else prune();
    }),
    close() {
      // What is kept on disk outlives the daemon; what would be in memory is not stored any more.
      for (const { captured } of waiting) storeOnDisk(captured.filter(isForDisk));
      disk?.close();
      // Ends only this thread, even while it rests.
      process.exit();
    },
  });
}

function statusOf(shelves: ContentShelves, workspaceId: string): ContentRequests['status'][1] {
  const found = shelves.all().map((shelf) => shelf.status(workspaceId));
  const oldest = found.map(({ oldestAt }) => oldestAt).filter((at) => at !== null);
  return {
    calls: found.reduce((sum, { calls }) => sum + calls, 0),
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    diskBytes: found[1]?.bytes ?? 0,
    oldestAt: oldest.length === 0 ? null : Math.min(...oldest),
  };
}
