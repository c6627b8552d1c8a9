import { describe, expect, test } from 'vitest';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { noLabels } from '../../src/shared/constants/call-labels.ts';
import { type TextStore, textStoreNames } from '../../src/shared/constants/text-stores.ts';
import {
  aHold,
  aResponse,
  aSettlement,
  dayMs,
  having,
  morning,
  noSearch,
  type OpenStorage,
  owner,
} from './records.ts';

const bounds = { messagesMax: 10, charactersMax: 1_000 };
const expires = { createdAt: morning, expiresAt: morning + dayMs };

async function runOf({ threads }: Storage, threadId: string, name: string, isRunning = false) {
  const run = { id: `run_${name}`, threadId, requestId: `req_${name}`, model: 'm', meta: {} };
  await threads.startRun({
    workspaceId: 'ws_1',
    run: { ...run, startedAt: morning },
    event: { id: `evt_${name}`, type: 'run_started', payload: {} },
    title: `About ${name}`,
    bounds,
  });
  if (isRunning) return;
  await threads.endRun({
    run: { ...run, provider: 'p', usage: null, error: null },
    status: 'completed',
    messages: [
      { id: `msg_${name}_1`, isOutput: false, item: `"${name} asks"` },
      { id: `msg_${name}_2`, isOutput: true, item: `"${name} learns"` },
    ],
    events: [],
    at: morning,
  });
}

const aThread = (id: string) => ({
  id,
  workspaceId: 'ws_1',
  title: null,
  runId: null,
  autopilotId: null,
  messages: 0,
  characters: 0,
  createdAt: morning,
  updatedAt: morning,
});

/** Texts of the calls of two persons in all stores, and of another workspace. */
async function tell(storage: Storage) {
  const { background, cache, idempotency, responses, threads } = storage;
  await threads.create(aThread('th_1'));
  for (const name of ['ann', 'bob']) {
    const requestId = `req_${name}`;
    await responses.insert(aResponse(`resp_${name}`, { requestId, ...expires }));
    const started = { id: `resp_bg_${name}`, workspaceId: 'ws_1', requestId, previousId: null, ...expires };
    const isRunning = { streamed: true, isRunning: true, lastSequence: null, input: '[]', body: '{}' };
    await background.start({ ...started, ...isRunning });
    await background.appendEvents(started.id, { lastSequence: 1, text: 'event' });
    const cached = {
      workspaceId: 'ws_1',
      requestId,
      model: 'm',
      providerModel: 'm',
      events: '[]',
      ...expires,
    };
    await cache.put({ ...cached, digest: `digest_${name}` }, { entriesMax: 9, bytesMax: 1_000 });
    const claim = { scope: 'login:key_1 ws_1', key: `once-${name}`, requestId };
    await idempotency.claim({
      ...claim,
      fingerprint: 'f',
      ...expires,
      startedAt: morning,
      leaseUntil: morning + 9,
    });
    await idempotency.finish(claim, { headers: {}, body: new Uint8Array(2) });
    await runOf(storage, 'th_1', name);
  }
  const end = { workspaceId: 'ws_1', body: '{}', output: '[]', lastSequence: 1 };
  await background.finish({ ...end, id: 'resp_bg_ann' });
}

const everything = { workspaceId: 'ws_1', after: '', limit: 10 };
const of = async ({ texts }: Storage, store: TextStore, page = everything) =>
  (await texts.page(store, page)).map(({ requestId }) => requestId);

export function textsStoreContract(open: OpenStorage): void {
  describe('texts of calls', () => {
    test('are listed of ended calls, by their own workspace, in pages', async () => {
      const storage = await open();
      await tell(storage);
      const found = await Promise.all(textStoreNames.map(async (store) => [store, await of(storage, store)]));
      expect(Object.fromEntries(found)).toEqual({
        responses: ['req_ann', 'req_ann', 'req_bob'],
        background_responses: ['req_ann'],
        threads: ['req_ann', 'req_bob'],
        cached_answers: ['req_ann', 'req_bob'],
        idempotency_keys: ['req_ann', 'req_bob'],
      });
      for (const store of textStoreNames) {
        const [first] = await storage.texts.page(store, { ...everything, limit: 1 });
        expect(first?.requestId).toBe('req_ann');
        const rest = await storage.texts.page(store, { ...everything, after: first?.id ?? '' });
        const all = await storage.texts.page(store, everything);
        expect([first, ...rest]).toEqual(all);
        if (store !== 'idempotency_keys')
          expect(await of(storage, store, { ...everything, workspaceId: 'ws_2' })).toEqual([]);
      }
    });

    test('are removed with what belongs to them, and by their own workspace alone', async () => {
      const storage = await open();
      await tell(storage);
      for (const store of textStoreNames) {
        const rows = await storage.texts.page(store, everything);
        const ids = rows.filter(({ requestId }) => requestId === 'req_ann').map(({ id }) => id);
        if (store !== 'idempotency_keys') expect(await storage.texts.remove(store, 'ws_2', ids)).toBe(0);
        expect(await storage.texts.remove(store, 'ws_1', ids)).toBe(ids.length);
        expect(await of(storage, store)).not.toContain('req_ann');
      }
      expect(await storage.responses.byId('ws_1', 'resp_ann', morning)).toBeUndefined();
      expect(await storage.responses.byId('ws_1', 'resp_bob', morning)).toBeDefined();
      expect(await storage.background.eventsAfter('resp_bg_ann', 0)).toBeUndefined();
      // What runs stays.
      expect(await storage.background.eventsAfter('resp_bg_bob', 0)).toBeDefined();
      expect(await storage.idempotency.answer('login:key_1 ws_1', 'once-ann')).toBeUndefined();
      expect(await storage.idempotency.answer('login:key_1 ws_1', 'once-bob')).toBeDefined();
    });

    test('of a thread leave the other turns, which it goes on with', async () => {
      const storage = await open();
      await tell(storage);
      const { texts, threads } = storage;
      expect(await texts.remove('threads', 'ws_1', ['th_1 run_ann'])).toBe(1);
      await runOf(storage, 'th_1', 'cleo');
      const items = (await threads.conversation('th_1')).map(({ item }) => item);
      expect(items).toEqual(['"bob asks"', '"bob learns"', '"cleo asks"', '"cleo learns"']);
      // The title quoted the first turn.
      const characters = items.join('').length;
      expect(await threads.byId('ws_1', 'th_1')).toMatchObject({
        title: 'About cleo',
        messages: 4,
        characters,
      });
      await runOf(storage, 'th_1', 'dan', true);
      expect(await of(storage, 'threads')).toEqual(['req_bob', 'req_cleo']);
      expect(await texts.remove('threads', 'ws_1', ['th_1 run_dan'])).toBe(0);
      await texts.remove('threads', 'ws_1', ['th_1 run_bob', 'th_1 run_cleo']);
      expect(await threads.byId('ws_1', 'th_1')).toMatchObject({ messages: 0, characters: 0 });
    });

    test('a thread is deleted with its last run', async () => {
      const storage = await open();
      await tell(storage);
      expect(await storage.texts.remove('threads', 'ws_1', ['th_1 run_ann', 'th_1 run_bob'])).toBe(2);
      expect(await storage.threads.byId('ws_1', 'th_1')).toBeUndefined();
    });

    test('a forgotten user is a pseudonym in folded and other calls, in one workspace, and as no other name', async () => {
      const storage = await open();
      const { ledger, metering, texts, traces } = storage;
      await storage.workspaces.createOwner(owner);
      const settle = (from: number, count: number, name = '') =>
        Promise.all(
          Array.from({ length: count }, (_, index) => {
            const number = from + index;
            // Of the calls that are not folded, none in the first workspace.
            const isAnn = number % 3 === 0 && (number < 600 || number % 2 === 1);
            const tags: Record<string, string> = isAnn ? { name: 'ann', team: 'a' } : {};
            const labels = {
              ...noLabels,
              user: isAnn ? 'ann' : 'bob',
              conversation: isAnn ? 'ann' : null,
              tags,
            };
            const workspaceId = number % 2 === 0 ? 'ws_1' : 'ws_2';
            return metering.settle(aSettlement(`req_${name}${number}`, { workspaceId, labels }));
          }),
        );
      // Enough to be folded, and some that are not.
      await settle(0, 600);
      await settle(600, 60);
      const range = { since: 0, until: morning + dayMs, timeZone: 'UTC' };
      const everyone = { keyId: undefined, model: undefined, ...range };
      const usage = async (workspaceId: string, by: 'user' | 'tag' | 'model') => {
        const groups = await metering.summarize({ ...everyone, workspaceId, groupBy: [by] });
        return Object.fromEntries(groups.map(({ groups: [name], ...sums }) => [name, sums]));
      };
      const found = async (workspaceId: string, user: string) =>
        (
          await traces.search({
            ...noSearch,
            workspaceId,
            terms: [having('user', user)],
            since: undefined,
            until: undefined,
            after: undefined,
            limit: 1_000,
          })
        ).calls.length;
      const all = async (workspaceId: string) => [
        await usage(workspaceId, 'user'),
        await usage(workspaceId, 'tag'),
        await usage(workspaceId, 'model'),
      ];
      const before = { first: await all('ws_1'), second: await all('ws_2') };
      const forget = (workspaceId: string, pseudonym: string) => {
        const event = { type: 'user.forgotten', workspaceId, at: morning, data: { user: pseudonym } };
        return texts.forgetUser({ workspaceId, user: 'ann', pseudonym, event });
      };
      expect(await forget('ws_2', 'nobody')).toEqual({ calls: 110, rejections: 0, budgets: [] });
      const renamed = JSON.stringify(before.second).replace('"ann"', '"nobody"').replace('=ann', '=nobody');
      expect(await all('ws_2')).toEqual(JSON.parse(renamed));
      expect(await all('ws_1')).toEqual(before.first);
      expect([await found('ws_2', 'ann'), await found('ws_2', 'nobody')]).toEqual([0, 110]);
      // When the other workspace forgets it, too, it is no name any more.
      expect(await forget('ws_1', 'none')).toMatchObject({ calls: 100 });
      await settle(660, 4);
      await settle(0, 1, 'again');
      expect([await found('ws_1', 'ann'), await found('ws_1', 'none')]).toEqual([1, 100]);
      expect((await ledger.verify()).problems).toEqual([]);
    });

    test('what is also the name of a model stays one', async () => {
      const { metering, texts, traces } = await open();
      const labels = { ...noLabels, user: 'openai/gpt-5' };
      await metering.settle(aSettlement('req_1', { labels }));
      const event = { type: 'user.forgotten', workspaceId: 'ws_1', at: morning, data: {} };
      await texts.forgetUser({ workspaceId: 'ws_1', user: 'openai/gpt-5', pseudonym: 'nobody', event });
      expect(await traces.find('ws_1', 'req_1')).toMatchObject({
        model: 'openai/gpt-5',
        labels: { user: 'nobody' },
      });
    });

    test('of running calls are counted by key and end user', async () => {
      const { metering, texts } = await open();
      for (const [id, user] of [
        ['req_1', 'ann'],
        ['req_2', 'bob'],
      ] as const)
        await metering.hold(aHold(id, { keyId: `key_${user}`, labels: { ...noLabels, user } }));
      const running = (keyId?: string, user?: string) => texts.running('ws_1', { keyId, user });
      expect(await running()).toBe(2);
      expect(await running('key_ann')).toBe(1);
      expect(await running('key_ann', 'bob')).toBe(0);
      expect(await running(undefined, 'bob')).toBe(1);
    });
  });
}
