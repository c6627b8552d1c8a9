import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import {
  addPayer,
  byCredential,
  callModel,
  offersIn,
  openTill,
  type Payer,
  paymentsConfig,
} from '../support/paid-calls.ts';
import { askDaemon } from '../support/users.ts';

let provider: FakeOpenAi;
let daemon: ChildDaemon;
let bob: Payer;

beforeAll(async () => {
  provider = await startFakeOpenAi();
  daemon = await startChildDaemon({
    config: `${paymentsConfig}payments: {usd_per_btc: "100000"}
upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [large], wire: responses, prices: {input: "1", output: "10"}}]
`,
    env: { FAKE_KEY: 'sk-fake' },
  });
  await openTill(daemon);
});

let payers = 0;
/** Each test has a payer without credit. */
beforeEach(async () => {
  payers += 1;
  bob = await addPayer(daemon, `payer-${payers}`);
});

afterAll(async () => {
  await daemon.remove();
  await provider.close();
});

/** Kills the daemon, and starts it again with its clock ahead. */
async function restart(aheadMs = 0): Promise<void> {
  daemon.signal('SIGKILL');
  await daemon.ended;
  const env = { FAKE_KEY: 'sk-fake', CLOCK_AHEAD_MS: String(aheadMs) };
  daemon = await startChildDaemon({ home: daemon.home, env });
}

const request = (input: string) => ({ model: 'fake/large', input, max_output_tokens: 100_000, store: false });
const balance = async () =>
  Number((await askDaemon(daemon, 'GET', '/v1/key', { as: bob.key })).body.balance_usd);

/** A rejected call and the proof that its invoice was paid; `usd` is what was paid. */
async function paidOffer(body: object) {
  const { status, headers, body: rejected } = await callModel(daemon, { key: bob.key, body });
  expect(status).toBe(402);
  const { invoice, usd } = rejected.error.pay;
  const json = { invoice };
  const paid = await askDaemon(daemon, 'POST', '/api/payments/pay', { as: bob.login, json });
  const { preimage } = paid.body.data.payment;
  return {
    usd: Number(usd),
    retry: { key: bob.key, body, headers: byCredential(offersIn(headers).challenge, preimage) },
  };
}

const expectSoundLedger = async () => {
  const { body } = await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login });
  expect(body).toMatchObject({ ok: true, problems: [] });
};

test('a payment before the daemon is killed pays the same call afterwards', async () => {
  const { retry } = await paidOffer(request('Killed before the retry.'));
  await restart();
  expect((await callModel(daemon, retry)).status).toBe(200);
  await expectSoundLedger();
});

test('a paid call that a kill breaks off leaves its payment as credit, once', async () => {
  const before = await balance();
  const { usd, retry } = await paidOffer({
    ...request('Killed during the answer.'),
    max_output_tokens: 20_000,
  });
  provider.script({ silent: true });
  const asked = provider.requests.length;
  const broken = callModel(daemon, retry).catch(() => 'cut');
  await eventually('the provider is asked', () => provider.requests.length > asked);
  await restart();
  expect(await broken).toBe('cut');
  const again = await callModel(daemon, retry);
  expect(again).toMatchObject({ status: 402, body: { error: { reason: 'already_used' } } });
  // The prompt may be charged, as the provider had received it.
  const left = await balance();
  expect(left).toBeGreaterThan(before + usd - 0.01);
  expect(left).toBeLessThanOrEqual(before + usd);
  await expectSoundLedger();
});

test('a payment that is proven after its invoice expired is refused, and becomes credit', async () => {
  const before = await balance();
  const body = { ...request('Too late.'), max_output_tokens: 40_000 };
  const { usd, retry } = await paidOffer(body);
  await restart(11 * 60_000);
  const late = await callModel(daemon, retry);
  expect(late).toMatchObject({
    status: 402,
    body: { error: { code: 'payment_refused' } },
  });
  // The daemon credits expired payments by itself, too, which may come first.
  expect(late.body.error.reason).toMatch(/^(expired|already_used)$/);
  expect(await balance()).toBeCloseTo(before + usd, 9);
  await expectSoundLedger();
});
