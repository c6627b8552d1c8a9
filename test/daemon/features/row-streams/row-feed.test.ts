import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowFeed } from '../../../../src/daemon/features/row-streams/index.ts';
import { fakeWorld, settled } from '../../../support/fake-world.ts';

/** Rows that are written while readers follow them. */
function table() {
  const rows: { id: number }[] = [];
  return {
    rows,
    last: async () => rows.length,
    read: async ({ after, limit }: { after: number; limit: number }) => {
      await settled();
      return rows.slice(after, after + limit);
    },
    add: () => rows.push({ id: rows.length + 1 }),
  };
}

const chunkOf = ({ id }: { id: number }) => `${id} `;

function followed(world = fakeWorld(), followersMax?: number) {
  const kept = table();
  const feed = createRowFeed({ world, ...(followersMax !== undefined && { followersMax }) });
  const open = (more: { after?: number; until?: number; signal?: AbortSignal } = {}) =>
    feed.follow({
      topic: 'rows',
      after: more.after,
      last: kept.last,
      read: kept.read,
      chunkOf,
      until: more.until ?? null,
      signals: more.signal === undefined ? [] : [more.signal],
    });
  return { world, kept, feed, open };
}

async function textOf(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text.replace(': following\n\n', '');
}

test('sends each row once and in order, however rows are written and announced', async () => {
  const plan = fc.array(fc.constantFrom('write', 'announce', 'wait'), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(plan, fc.nat(5), async (steps, before) => {
      const { kept, feed, open } = followed();
      for (let count = 0; count < before; count += 1) kept.add();
      const after = Math.floor(before / 2);
      const text = textOf(await open({ after }));
      for (const step of steps) {
        if (step === 'write') kept.add();
        else if (step === 'announce') feed.announce('rows');
        else await settled();
      }
      feed.announce('rows');
      for (let turns = 0; turns < 20; turns += 1) await settled();
      feed.close();
      const ids = kept.rows.slice(after).map(({ id }) => `${id} `);
      expect(await text).toBe(ids.join(''));
    }),
    { numRuns: 100 },
  );
});

test('treats an id beyond the newest as now', async () => {
  const { kept, feed, open } = followed();
  kept.add();
  const text = textOf(await open({ after: 999 }));
  await settled();
  kept.add();
  feed.announce('rows');
  for (let turns = 0; turns < 5; turns += 1) await settled();
  feed.close();
  expect(await text).toBe('2 ');
});

test('ends when the credential expires', async () => {
  const world = fakeWorld();
  const { kept, feed, open } = followed(world);
  let ended = false;
  const text = textOf(await open({ until: world.now() + 150_000 })).finally(() => {
    ended = true;
  });
  await settled();
  await world.advance(149_000);
  kept.add();
  feed.announce('rows');
  await settled();
  expect(ended).toBe(false);
  await world.advance(2000);
  expect(await text).toBe('1 ');
});

test('ends with its signal, and sends live chunks', async () => {
  const { feed, open } = followed();
  const leaving = new AbortController();
  const text = textOf(await open({ signal: leaving.signal }));
  await settled();
  feed.publish('rows', 'live ');
  feed.publish('other rows', 'not for these ');
  for (let turns = 0; turns < 5; turns += 1) await settled();
  leaving.abort();
  expect(await text).toBe('live ');
});

test('rejects followers beyond the limit', async () => {
  const { feed, open } = followed(fakeWorld(), 1);
  const text = textOf(await open());
  await settled();
  await expect(open()).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 30 });
  feed.close();
  await text;
  const another = textOf(await open());
  expect(await another).toBe('');
});
