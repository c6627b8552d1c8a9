import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LightningBackend } from '../../../../src/daemon/features/lightning/index.ts';
import { nwc } from '../../../../src/daemon/upstream/lightning/nwc.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { connectionString, type FakeNwcOptions, startFakeNwc } from '../../../support/lightning/fake-nwc.ts';
import { startFakeRelay } from '../../../support/lightning/fake-relay.ts';

const never = new AbortController().signal;

/** A wallet, and the back end for a connection string of `relays`, by a clock that only a test moves. */
async function start({ relays, ...options }: FakeNwcOptions & { relays?: (url: string) => string[] } = {}) {
  const fake = await startFakeNwc(options);
  const world = fakeWorld({ now: Date.now() });
  const secret = connectionString(...(relays?.(fake.url) ?? [fake.url]));
  const backend = nwc.create({
    url: '',
    network: 'regtest',
    send: world.send,
    world,
    secret: async () => secret,
  });
  onTestFinished(async () => {
    await whileWaiting(world, backend.close?.() ?? Promise.resolve());
    await fake.close();
  });
  return { ...fake, backend, world };
}

/** Lets the time pass for which something waits, once nothing else happens. */
async function whileWaiting<T>(
  { sleeping, advance }: ReturnType<typeof fakeWorld>,
  work: Promise<T>,
  { until = 60_000 } = {},
): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  for (let ms = 0; !isOver && ms < until; ms += 500) {
    // What another side of this machine does takes far less than this many turns.
    for (let turn = 0; turn < 300 && !isOver; turn += 1) await new Promise(setImmediate);
    if (!isOver && sleeping() > 0) await advance(500);
  }
  expect(isOver, 'it ended within its limit').toBe(true);
  return await work;
}

const ready = (backend: LightningBackend) => backend.prepare(never).then(() => 'ready');

describe('a relay that says nothing', () => {
  test('fails a request in time, and the next one uses another connection (cashubtc/cashu.me#136)', async () => {
    const { backend, relay, world } = await start();
    await ready(backend);
    relay.freeze();
    await expect(whileWaiting(world, ready(backend))).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await ready(backend)).toBe('ready');
    expect(relay.clients()).toBe(2);
  });

  test('is not used for what comes after a minute of silence (wireapp/wire-webapp#21477)', async () => {
    const { backend, relay, world } = await start();
    await ready(backend);
    relay.freeze();
    await world.advance(61_000);
    expect(await ready(backend)).toBe('ready');
    relay.freeze();
    world.shiftWallClock(50 * 60_000);
    expect(await ready(backend)).toBe('ready');
  });

  test('lets a payment go on for which it waits, while others use another connection', async () => {
    const { backend, node, world } = await start();
    node.next('hold');
    const invoice = node.foreignInvoice(25_000);
    const { requestFor } = await import('./lightning-backend.contract.ts');
    const paying = backend.pay(requestFor(invoice));
    await expect.poll(() => node.asked.length).toBe(1);
    await world.advance(61_000);
    expect(await ready(backend)).toBe('ready');
    node.end(invoice, 'succeeded');
    expect(await paying).toMatchObject({ state: 'succeeded' });
  });

  test('from the start fails in time, and is well again later (nostr-dev-kit/ndk#171, riccardobl/nwcprovider#6)', async () => {
    const { backend, relay, world } = await start();
    relay.manners = { isSilent: true };
    const failing = whileWaiting(world, ready(backend), { until: 6_000 });
    await expect(failing).rejects.toThrow(/The relay 127\.0\.0\.1:\d+ did not answer in time\./);
    relay.manners = {};
    expect(await ready(backend)).toBe('ready');
  });

  test('does not hold up a close for longer than a second', async () => {
    const { backend, relay, world } = await start();
    await ready(backend);
    relay.freeze();
    const asking = ready(backend).catch(({ kind }) => kind);
    await expect.poll(() => relay.clients()).toBe(1);
    await whileWaiting(world, backend.close?.() ?? Promise.resolve(), { until: 1_500 });
    expect(await asking).toBe('unreachable');
    // The other side learns it from the system.
    await expect
      .poll(() => {
        relay.broadcast('[]');
        return relay.connected();
      })
      .toBe(0);
  });

  test('does not hold up a close while it is connected to', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const { backend, world } = await start({ relays: () => [`ws://127.0.0.1:${port}`] });
    const accepted = new Promise((resolve) => server.once('connection', resolve));
    const asking = ready(backend).catch(({ kind }) => kind);
    await accepted;
    await whileWaiting(world, backend.close?.() ?? Promise.resolve(), { until: 1_500 });
    expect(await asking).toBe('unreachable');
  });
});

describe('several relays', () => {
  test('are tried in order when the first is down (getAlby/js-sdk#367, michaelWuensch/BitBanana#122, spesmilo/electrum#10676)', async () => {
    const { backend, relay } = await start({ relays: (url) => ['ws://127.0.0.1:1', url] });
    expect(await ready(backend)).toBe('ready');
    relay.disconnect();
    await expect.poll(() => ready(backend).catch(() => 'lost')).toBe('ready');
  });

  test('are tried in order when the first says nothing', async () => {
    const silent = await startFakeRelay();
    onTestFinished(silent.close);
    const { backend, world } = await start({ relays: (url) => [silent.url, url] });
    // The first connection to a fake relay is that of a wallet.
    const { WebSocket } = await import('ws');
    const first = new WebSocket(silent.url);
    await new Promise((resolve) => first.once('open', resolve));
    silent.manners = { isSilent: true };
    expect(await whileWaiting(world, ready(backend))).toBe('ready');
    expect(silent.clients()).toBe(1);
  });

  test('are tried in turn when the wallet is not connected to the first', async () => {
    const lonely = await startFakeRelay();
    onTestFinished(lonely.close);
    const { backend, world } = await start({ relays: (url) => [lonely.url, url] });
    await expect(whileWaiting(world, ready(backend))).rejects.toThrow(
      'The wallet did not answer in time. Check that it is online, and the clock of this machine and of the wallet.',
    );
    expect(await ready(backend)).toBe('ready');
  });

  test('are all named when none answers', async () => {
    const { backend } = await start({ relays: () => ['ws://127.0.0.1:1', 'ws://127.0.0.1:2'] });
    await expect(ready(backend)).rejects.toThrow(
      'The relay 127.0.0.1:1 cannot be reached. The relay 127.0.0.1:2 cannot be reached.',
    );
  });
});

describe('a relay that wants to know who asks (lnbits/nostrrelay#44)', () => {
  const cases = (['at once', 'after the refusal'] as const).flatMap((challenge) =>
    ([['REQ'], ['EVENT'], ['REQ', 'EVENT']] as const).map((on) => ({ challenge, on })),
  );
  test.each(cases)('is told: asked $challenge, for $on', async (asksWho) => {
    const { backend, relay } = await start();
    relay.manners = { asksWho };
    expect(await ready(backend)).toBe('ready');
    expect(await ready(backend)).toBe('ready');
    expect(relay.clients()).toBe(1);
  });
});

describe('the reason of a relay is shown (nostr-protocol/nips#902)', () => {
  test.each([
    ['REQ', 'restricted: only for members.'],
    ['EVENT', 'blocked: not today'],
  ] as const)('that refuses a %s', async (on, reason) => {
    const { backend, relay } = await start();
    relay.manners = { refuses: { on, reason } };
    await expect(ready(backend)).rejects.toThrow(
      new RegExp(`^The relay 127\\.0\\.0\\.1:\\d+ rejected the request: ${reason.replace(/\.$/, '')}\\.$`),
    );
  });

  test('that complains and then says nothing', async () => {
    const { backend, relay, world } = await start();
    await ready(backend);
    relay.broadcast(JSON.stringify(['NOTICE', 'too many\nrequests \u0007']));
    relay.freeze();
    await expect(whileWaiting(world, ready(backend))).rejects.toThrow(/: too many requests\.$/);
  });
});

test.each([
  [-300, 'The clock of this machine is 5 minutes ahead of that of the relay '],
  [90, 'The clock of this machine is (?:89|90|91) seconds behind that of the relay '],
  [-7200, 'The clock of this machine is 120 minutes ahead of that of the relay '],
])('the clock of this machine is compared with that of the relay: %i s', async (aheadSeconds, sentence) => {
  const { backend, relay, world } = await start();
  relay.manners = { aheadSeconds };
  const { problems } = await backend.check(never);
  expect(problems).toEqual([expect.stringMatching(new RegExp(`^${sentence}127\\.0\\.0\\.1:\\d+\\.$`))]);
  relay.freeze();
  const failing = whileWaiting(world, ready(backend));
  await expect(failing).rejects.toThrow('did not confirm the request in time');
});

test.each([0, 10, -10])('a difference of %i s is none', async (aheadSeconds) => {
  const { backend, relay } = await start();
  relay.manners = { aheadSeconds };
  expect((await backend.check(never)).problems).toEqual([]);
});

describe('a wallet whose clock differs (MostroP2P/mobile#718, tradingstrategy-ai/frontend#698)', () => {
  test.each([-1800, -90, 90, 1800])('by %i seconds answers', async (aheadSeconds) => {
    const { backend } = await start({ aheadSeconds });
    expect(await ready(backend)).toBe('ready');
  });
});
