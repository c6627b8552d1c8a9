import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Meter } from '../../../../src/daemon/features/calls/meter.ts';
import { createOutput } from '../../../../src/daemon/features/calls/output-items.ts';
import type { HoldRecord, Settlement } from '../../../../src/daemon/features/metering/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import { idMaker } from '../../../../src/shared/ids.ts';
import { noCost, type Prices, type Tokens } from '../../../../src/shared/money/money.ts';
import { admissionOver } from '../../../support/admission-over.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { offerOf, routeOf } from '../../../support/routing.ts';

const usd = 1_000_000_000;
const route = routeOf(
  offerOf('anthropic', {
    model: 'anthropic/claude',
    prices: { input: 3 * usd, cachedInput: 3 * usd, cacheWrite: 3 * usd, output: 15 * usd },
  }),
);
const tokens = (input: number, output: number): Tokens => ({
  input,
  cachedInput: 0,
  cacheWrite: 0,
  output,
  reasoning: 0,
});

interface MeterScene {
  held?: number;
  ownKey?: boolean;
  promptTokens?: number;
  textTokens?: number;
}

async function meterWith(options: MeterScene = {}) {
  const settlements: Settlement[] = [];
  const world = fakeWorld();
  const admission = admissionOver({ settle: async (settlement) => settlements.push(settlement) });
  const record: HoldRecord = {
    requestId: 'req_1',
    workspaceId: 'ws_1',
    keyId: 'key_1',
    endpoint: '/v1/responses',
    model: 'anthropic/claude',
    streamed: true,
    ownKey: options.ownKey ?? false,
    amount: options.held ?? usd,
    promptEstimate: tokens(0, 0),
    promptCost: 0,
    labels: noLabels,
    createdAt: world.now(),
  };
  const saved: number[] = [];
  const meter = new Meter({
    admission,
    saveProgress: async (progress) => {
      saved.push(progress.cost ?? 0);
    },
    clock: world,
    marginPpm: 50_000,
    hold: await admission.hold(record),
    startedAt: 0,
    prompt: { likely: options.promptTokens ?? 100, text: options.textTokens ?? 0 },
    promptParam: 'messages',
    outputTokensMax: 1000,
    observers: [],
  });
  const output = createOutput(idMaker(world.now, world.randomBytes), () => 'sealed');
  const deliver = (text: string) => {
    output.apply({ type: 'item-started', index: 0, item: { kind: 'message' } });
    output.apply({ type: 'text', index: 0, delta: text });
  };
  return { meter, output, deliver, settlements, admission, saved, world };
}

describe('the cost of a running answer', () => {
  test('is saved after half a second, then every two seconds, and whenever it has grown by a cent', async () => {
    const { meter, output, deliver, saved, world } = await meterWith();
    meter.answerStarted(route, output);
    deliver('x'.repeat(100));
    meter.saveProgress();
    expect(saved).toHaveLength(0);
    await world.advance(500);
    meter.saveProgress();
    meter.saveProgress();
    expect(saved).toHaveLength(1);
    await world.advance(1_999);
    meter.saveProgress();
    expect(saved).toHaveLength(1);
    await world.advance(1);
    meter.saveProgress();
    expect(saved).toHaveLength(2);
    // An output token costs 15,000 nano-dollars, so a cent pays for 667 tokens or some 2,700 characters.
    deliver('x'.repeat(3_000));
    meter.saveProgress();
    meter.saveProgress();
    expect(saved).toHaveLength(3);
    expect((saved[2] ?? 0) - (saved[1] ?? 0)).toBeGreaterThan(9_000_000);
  });
});

describe('an answer that broke off is charged', () => {
  test('the usage that the provider reported', async () => {
    const { meter, output, settlements } = await meterWith();
    meter.answerStarted(route, output);
    meter.count([{ type: 'usage', tokens: tokens(1000, 100) }]);
    await meter.settle({ status: 'failed', httpStatus: 200, errorCode: 'upstream_failed' });
    // 1000 × 3000 + 100 × 15000 nano-dollars, and five percent.
    expect(settlements[0]?.usage).toMatchObject({
      charged: 4_725_000,
      tokensReported: true,
      status: 'failed',
    });
  });

  test('the estimate of the prompt and the delivered output, without a reported usage', async () => {
    const { meter, output, deliver, settlements } = await meterWith({ promptTokens: 100 });
    meter.answerStarted(route, output);
    deliver('x'.repeat(40));
    await meter.settle({ status: 'canceled', httpStatus: 200 });
    expect(settlements[0]?.usage).toMatchObject({
      tokens: tokens(100, 10),
      tokensReported: false,
      cost: { provider: 100 * 3000 + 10 * 15_000 },
    });
  });

  test('the prompt as counted by the provider, and the estimate of the delivered output', async () => {
    const { meter, output, deliver, settlements } = await meterWith({ promptTokens: 1000 });
    const cached = { ...route.offer.prices, cachedInput: usd };
    meter.answerStarted({ ...route, offer: { ...route.offer, prices: cached as Prices } }, output);
    meter.count([{ type: 'prompt-counted', tokens: { input: 800, cachedInput: 700, cacheWrite: 0 } }]);
    deliver('x'.repeat(40));
    await meter.settle({ status: 'canceled', httpStatus: 200 });
    expect(settlements[0]?.usage).toMatchObject({
      tokens: { input: 800, cachedInput: 700, output: 10 },
      tokensReported: false,
      cost: { provider: 100 * 3000 + 700 * 1000 + 10 * 15_000 },
    });
  });

  test('the estimate of the prompt, if the provider first reported a prompt of zero', async () => {
    const { meter, output, settlements } = await meterWith({ promptTokens: 100 });
    meter.answerStarted(route, output);
    meter.count([{ type: 'prompt-counted', tokens: { input: 0, cachedInput: 0, cacheWrite: 0 } }]);
    await meter.settle({ status: 'canceled', httpStatus: 200 });
    expect(settlements[0]?.usage.tokens.input).toBe(100);
  });

  test('nothing, if the provider reported zero', async () => {
    const { meter, output, deliver, settlements } = await meterWith();
    meter.answerStarted(route, output);
    deliver('some text');
    meter.count([{ type: 'usage', tokens: tokens(0, 0) }]);
    await meter.settle({ status: 'failed', httpStatus: 200 });
    expect(settlements[0]?.usage.charged).toBe(0);
    expect(settlements[0]?.entries).toEqual([]);
  });

  test('nothing of an attempt that was discarded', async () => {
    const { meter, output, deliver, settlements } = await meterWith({ promptTokens: 100 });
    meter.answerStarted(route, output);
    meter.count([
      { type: 'prompt-counted', tokens: { input: 800, cachedInput: 0, cacheWrite: 0 } },
      { type: 'usage', tokens: tokens(1000, 500) },
      { type: 'finished', reason: 'max_output_tokens' },
    ]);
    meter.answerDiscarded();
    meter.answerStarted(route, output);
    deliver('x'.repeat(40));
    await meter.settle({ status: 'canceled', httpStatus: 200 });
    expect(settlements[0]?.usage).toMatchObject({ tokens: tokens(100, 10), tokensReported: false });
  });

  test('nothing, if no provider started to answer', async () => {
    const { meter, settlements } = await meterWith();
    await meter.settle({ status: 'failed', httpStatus: 200, errorCode: 'upstream_failed' });
    expect(settlements[0]?.usage).toMatchObject({ charged: 0, cost: noCost, provider: null });
  });
});

test('a call on the workspace’s own key is not charged, even if the hold assumed the host’s key', async () => {
  const { meter, output, settlements } = await meterWith();
  meter.answerStarted({ ...route, ownKey: true }, output);
  meter.count([{ type: 'usage', tokens: tokens(1000, 100) }]);
  await meter.settle({ status: 'completed', httpStatus: 200 });
  expect(settlements[0]).toMatchObject({ usage: { charged: 0, ownKey: true }, entries: [], tier: 'paid' });
});

test('a call is settled once, whatever ends it first', async () => {
  const { meter, output, settlements, admission } = await meterWith();
  meter.answerStarted(route, output);
  expect(admission.running()).toBe(1);
  await Promise.all([
    meter.settle({ status: 'completed', httpStatus: 200 }),
    meter.settle({ status: 'canceled', httpStatus: 200 }),
  ]);
  await meter.settle({ status: 'failed', httpStatus: 200 });
  expect(settlements.map(({ usage }) => usage.status)).toEqual(['completed']);
  expect(admission.running()).toBe(0);
});

test('no answer is charged more than its hold, and the entries add up to the charge', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(5_000_000), fc.nat(100_000), fc.nat(100_000), async (held, input, written) => {
      const { meter, output, settlements } = await meterWith({ held });
      meter.answerStarted(route, output);
      meter.report(tokens(input, written));
      await meter.settle({ status: 'completed', httpStatus: 200 });
      const [settlement] = settlements;
      const sum = settlement?.entries.reduce((total, entry) => total + entry.amount, 0);
      expect(settlement?.usage.charged).toBeLessThanOrEqual(held);
      expect(sum).toBe(settlement?.usage.charged);
    }),
  );
});

test('an implausible usage is ignored', async () => {
  const { meter, output, deliver, settlements } = await meterWith();
  meter.answerStarted(route, output);
  deliver('x'.repeat(40));
  meter.count([{ type: 'usage', tokens: tokens(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) }]);
  await meter.settle({ status: 'completed', httpStatus: 200 });
  expect(settlements[0]?.usage).toMatchObject({ tokens: tokens(100, 10), tokensReported: false });
});

test('a call on the workspace’s own key is not charged', async () => {
  const { meter, output, settlements } = await meterWith({ ownKey: true });
  meter.answerStarted(route, output);
  meter.report(tokens(1000, 1000));
  await meter.settle({ status: 'completed', httpStatus: 200 });
  expect(settlements[0]).toMatchObject({ usage: { charged: 0, ownKey: true }, entries: [], tier: 'paid' });
});

/** esengine/DeepSeek-Reasonix#10245, ollama/ollama#3839, ralphgrewe/TradingAgents#168 */
test.each([
  ['a prompt that its server cut', 'local', 4096, 2051, true],
  ['one of which a server lists the context', 'compatible', 4096, 2051, true],
  ['one that fits', 'local', 32_768, 15_000, false],
  ['one that the estimate may overrate', 'local', 8192, 8000, false],
  ['one of which the server has read more than its list says', 'compatible', 4096, 14_000, false],
  ['one that the server did not count', 'local', 4096, 0, false],
  ['one at a server that does not tell its context', 'local', null, 2051, false],
  ['one at a provider that refuses what is too long', 'anthropic', 4096, 2051, false],
] as const)('%s', async (_case, kind, contextLength, read, isCut) => {
  const { meter, output, settlements } = await meterWith({ textTokens: 15_000 });
  meter.answerStarted(routeOf(offerOf('ollama', { kind, contextLength, prices: null })), output);
  meter.report(tokens(read, 68));
  await meter.settle({ status: 'completed', httpStatus: 200 });
  const dropped = settlements[0]?.usage.trace?.dropped;
  expect(dropped).toEqual(isCut ? [{ param: 'messages' }] : undefined);
});

test('a hold that cannot be written fails with unavailable', async () => {
  const admission = admissionOver({ hold: () => Promise.reject(new Error('disk full')) });
  const meter = new Meter({
    admission,
    saveProgress: async () => {},
    clock: fakeWorld(),
    marginPpm: 0,
    hold: await admission.hold({ requestId: 'req_2' } as HoldRecord),
    startedAt: 0,
    prompt: { likely: 0, text: 0 },
    promptParam: 'input',
    outputTokensMax: 0,
    observers: [],
  });
  await expect(meter.holdCommitted()).rejects.toMatchObject({ code: 'unavailable' });
});

test('no call is admitted while the ledger cannot be written', async () => {
  const admission = admissionOver({}, { isWritable: false });
  await expect(admission.hold({ requestId: 'req_3' } as HoldRecord)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('the disk is full'),
  });
});
