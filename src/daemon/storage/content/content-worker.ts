import { randomBytes } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { ContentKeeper } from './content-keeper.ts';
import type {
  Captured,
  ContentRequestName,
  ContentRequests,
  FromContent,
  ToContent,
} from './content-messages.ts';
import { MemoryShelf } from './memory-shelf.ts';
import { searchContent } from './search-content.ts';

/**
 * After each batch, the thread rests for this many times as long as it took, so that it takes at most about 4 % of a core. What
 * comes faster is dropped.
 */
const restFactor = 24;
/** How long one request searches; the next one goes on from there. */
const searchMs = 50;

if (parentPort) {
  const port = parentPort;
  // Linux applies this to the calling thread, other systems to the whole process. Calls come first.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);
  const shelf = new MemoryShelf();
  const keeper = new ContentKeeper(shelf, randomBytes(32));
  const answers: { [N in ContentRequestName]: (data: ContentRequests[N][0]) => ContentRequests[N][1] } = {
    find: ({ workspaceId, requestId }) => keeper.find(workspaceId, requestId),
    remove: ({ workspaceId, requestId }) => keeper.remove(workspaceId, requestId),
    clear: (selection) => keeper.clear(selection),
    search: (search) => searchContent(shelf, search, performance.now() + searchMs),
    status: ({ workspaceId }) => shelf.status(workspaceId),
    isEmpty: () => shelf.isEmpty,
  };
  const store = (captured: Captured): void => {
    try {
      if ('asked' in captured) keeper.asked(captured.asked);
      else keeper.answered(captured.answered);
    } catch {
      // What a call contains must not cost the content of all others.
    }
  };
  const waiting: Captured[][] = [];
  let isResting = false;
  const storeNext = (): void => {
    for (const captured of waiting.shift() ?? []) store(captured);
    port.postMessage({ stored: true } satisfies FromContent);
  };
  const work = (): void => {
    if (isResting || waiting.length === 0) return;
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
  port.on('message', (message: ToContent) => {
    if ('close' in message) {
      // Ends only this thread, even while it rests.
      process.exit();
    }
    if ('captured' in message) {
      shelf.setBytesMax(message.memoryBytes);
      waiting.push(message.captured);
      work();
      return;
    }
    const { id, name, data } = message;
    // Who asks sees all calls that ended before.
    while (waiting.length > 0) storeNext();
    let answer: FromContent;
    try {
      answer = { id, result: answers[name](data as never) };
    } catch (error) {
      answer = { id, problem: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(answer);
  });
}
