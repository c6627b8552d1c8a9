import { once } from 'node:events';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import type { Change } from '../../../../src/daemon/base/changes.ts';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { MemberChanges, SharedChanges } from '../../../../src/daemon/storage/shared-changes.ts';
import { openSqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { openSqliteMember } from '../../../../src/daemon/storage/sqlite/open-member.ts';
import { startThread } from '../../../../src/daemon/storage/sqlite/start-thread.ts';
import { ThreadLink } from '../../../../src/daemon/worker-threads/thread-link.ts';
import type { ToMain, ToWorker } from '../../../../src/daemon/workers/messages.ts';
import { addUsers, aHold, aKey, aSettlement, morning } from '../../../storage/records.ts';
import { openTemporarily, recordingLog } from './temporary.ts';

const { newFolder, cleanUp } = openTemporarily();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await cleanUp();
});

type ChangesOf<Q extends { changes: unknown }> = Pick<Q, 'changes'>;

/** A storage, and as many members of it in this thread, whose messages pass through ports. */
async function openAll(members: number) {
  const folder = newFolder();
  const changes = new SharedChanges<number>();
  const writer = startThread('writer-worker');
  const log = recordingLog();
  const options = { folder, now: () => morning, log, settledEvent, changes, writerThread: writer };
  const main = await openSqliteStorage(options as Parameters<typeof openSqliteStorage>[0]);
  closers.push(() => main.close());
  const file = join(folder, 'gateway.db');
  const all = Array.from({ length: members }, (_, index) => {
    const { port1, port2 } = new MessageChannel();
    const ofMember: MemberChanges = new MemberChanges((made) => toMain.ask('changes', made));
    const toMain = new ThreadLink<ChangesOf<ToMain>, ChangesOf<ToWorker>>(port1, {
      changes: (made) => ofMember.receive(made),
    });
    const toMember = new ThreadLink<ChangesOf<ToWorker>, ChangesOf<ToMain>>(port2, {
      changes: (made) => changes.receive(index, made),
    });
    changes.join(index, (made) => toMember.ask('changes', made));
    const storage = openSqliteMember({ file, port: main.connect(), changes: ofMember, settledEvent });
    const leave = () => {
      changes.leave(index);
      toMember.end(new Error('the member has left'));
    };
    closers.push(async () => {
      leave();
      port1.close();
      await storage.close();
    });
    return { ...storage, leave };
  });
  const member = (index: number) => {
    const found = all[index];
    if (!found) throw new RangeError('there is no such member');
    return found;
  };
  return { main, member, file, writer, changes };
}

describe('threads that share a database', () => {
  test('settle calls in one ledger, and see what the others wrote', async () => {
    const { main, member } = await openAll(2);
    await main.metering.hold(aHold('req_0'));
    await member(0).metering.hold(aHold('req_1'));
    const sequences = await Promise.all([
      member(1).metering.settle(aSettlement('req_0')),
      member(0).metering.settle(aSettlement('req_1')),
      main.metering.settle(aSettlement('req_2')),
    ]);
    expect(sequences.sort()).toEqual([1, 2, 3]);
    for (const storage of [main, member(0), member(1)]) {
      for (const id of ['req_0', 'req_1', 'req_2']) expect(await storage.metering.usage(id)).toBeDefined();
    }
    expect(await main.ledger.verify()).toMatchObject({ problems: [], held: [] });
  });

  test('commit what they send at the same time, each loses only its own failures', async () => {
    const { main, member } = await openAll(3);
    await member(0).metering.settle(aSettlement('req_0'));
    const results = await Promise.allSettled([
      ...[0, 1, 2].flatMap((index) => [
        member(index).metering.settle(aSettlement(`req_of_${index}`)),
        member(index).metering.settle(aSettlement('req_0')),
      ]),
      main.metering.settle(aSettlement('req_of_main')),
    ]);
    const outcomes = results.map(({ status }) => status);
    const [done, refused] = ['fulfilled', 'rejected'];
    expect(outcomes).toEqual([done, refused, done, refused, done, refused, done]);
    expect(await main.ledger.verify()).toMatchObject({ problems: [] });
  });

  test('write from real threads', async () => {
    const { main, file } = await openAll(0);
    const calls = 200;
    const threads = ['a', 'b'].map((name) => {
      const port = main.connect();
      const script = new URL('./member-thread.ts', import.meta.url);
      return new Worker(script, { workerData: { file, port, name, calls }, transferList: [port] });
    });
    const answers = await Promise.all(threads.map((thread) => once(thread, 'message')));
    await Promise.all(threads.map((thread) => thread.terminate()));
    const sequences = answers.flatMap(([settled]) => settled as number[]);
    expect(new Set(sequences).size).toBe(2 * calls);
    expect(Math.max(...sequences)).toBe(2 * calls);
    expect(await main.ledger.verify()).toMatchObject({ problems: [], held: [] });
  });

  test('fail their writes when the writer thread dies', async () => {
    const { member, writer } = await openAll(1);
    await member(0).metering.hold(aHold('req_1'));
    await writer.terminate();
    await expect.poll(() => member(0).state().writable).toBe(false);
    await expect(member(0).metering.hold(aHold('req_2'))).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('apply changes of each other before the write resolves', async () => {
    const { main, member, changes } = await openAll(2);
    await addUsers(main);
    await main.keys.insert(aKey('key_1'));
    const seen: [string, Change][] = [];
    const watch = (name: string, from: Pick<typeof changes, 'subscribe'>) =>
      from.subscribe('key', async (change) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push([name, change]);
      });
    watch('main', changes);
    watch('0', member(0).changes);
    watch('1', member(1).changes);
    for (const storage of [member(0), main]) {
      await storage.keys.setLimits('ws_1', 'key_1', null);
      expect(seen.map(([name]) => name).sort()).toEqual(['0', '1', 'main']);
      expect(seen[0]?.[1]).toEqual({ topic: 'key', workspaceId: 'ws_1', keyId: 'key_1' });
      seen.length = 0;
    }
    member(1).changes.subscribe('key', () => {
      throw new Error('cannot be read again');
    });
    await expect(member(0).keys.setLimits('ws_1', 'key_1', null)).rejects.toThrow('cannot be read again');
  });

  test('do not wait for one that ends before it has applied a change', async () => {
    const { main, member } = await openAll(2);
    await addUsers(main);
    await main.keys.insert(aKey('key_1'));
    const applying = Promise.withResolvers<void>();
    member(1).changes.subscribe('key', () => {
      applying.resolve();
      return new Promise(() => {});
    });
    const write = member(0).keys.setLimits('ws_1', 'key_1', null);
    await applying.promise;
    member(1).leave();
    await write;
  });
});
