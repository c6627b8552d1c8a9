import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { readLedger } from '../support/ledger.ts';
import { paidConfig } from '../support/paid-daemon.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let fake: FakeOpenAi;
let place: DaemonWithStranger;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  fake.always({ text: 'Some words.', usage: { input: 20, output: 100 } });
  place = await startWithStranger({ config: paidConfig(fake.baseUrl) });
  daemon = place.daemon;
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it is what the tests are about.
  body: any;
}

async function send(secret: string, path: string, json?: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await daemon.fetch(path, json === undefined ? { headers } : { json, headers });
  return { status: answer.status, body: await answer.json() };
}

const ask = (secret: string, model = 'paid/small') =>
  send(secret, '/v1/responses', { model, input: 'Hello.', max_output_tokens: 100, store: false });
const grant = (body: object) => send(daemon.login, '/v1/admin/credit', body);
const balanceOf = async (secret: string) => (await send(secret, '/v1/key')).body.balance_usd;
const verified = async () => (await send(daemon.login, '/v1/admin/ledger/verify', {})).body;

describe('a prepaid workspace', () => {
  test('is refused until it has credit, except for free calls', async () => {
    const { key } = place.stranger;
    const refused = await ask(key);
    expect([refused.status, refused.body.error]).toMatchObject([
      402,
      { type: 'insufficient_balance', code: 'insufficient_balance', balance_usd: '0' },
    ]);
    expect(await balanceOf(key)).toBe('0');
    expect((await ask(key, 'sim/echo')).status).toBe(200);
    expect((await ask(key, 'priceless/unknown')).status).toBe(503);
    expect((await ask(daemon.key)).status).toBe(200);
    expect(await balanceOf(daemon.key)).toBeNull();
  });

  test('gets credit once, however often the same grant is sent', async () => {
    const wish = { workspace: 'elsewhere', usd: '0.005', note: 'Welcome.', reference: 'first' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => grant(wish)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ object: 'credit_grant', usd: '0.005', note: 'Welcome.' });
    expect(await balanceOf(place.stranger.key)).toBe('0.005');
    const other = await grant({ ...wish, usd: '6' });
    expect([other.status, other.body.error.param]).toEqual([409, 'reference']);
  });

  test.each([
    [{ workspace: 'nowhere', usd: '1' }, 404, 'workspace'],
    [{ workspace: 'me', usd: '0' }, 400, 'usd'],
    [{ workspace: 'me', usd: '1000001' }, 400, 'usd'],
    [{ workspace: 'me', usd: '9999999' }, 400, 'usd'],
    [{ workspace: 'me', usd: '-1' }, 400, 'usd'],
    [{ workspace: 'me' }, 400, 'usd'],
  ])('rejects the grant %j', async (wish, status, param) => {
    const refused = await grant(wish);
    expect([refused.status, refused.body.error.param]).toEqual([status, param]);
  });

  test('never spends more than its credit, however many calls run at once', async () => {
    const { key } = place.stranger;
    const asked = Array.from({ length: 200 }, () => ask(key));
    const watched = verified();
    const answers = await Promise.all(asked);
    expect(await watched).toMatchObject({ ok: true, problems: [] });
    const accepted = answers.filter(({ status }) => status === 200).length;
    expect(accepted).toBeGreaterThanOrEqual(15);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(['402 insufficient_balance']),
    );
    expect(refused[0]?.body.error.message).toMatch(
      /^The balance of \$[\d.]+(, of which \$[\d.]+ is reserved for running calls,)? does not/,
    );
    const left = Number(await balanceOf(key));
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThan(0.001);
    expect(readLedger(daemon.home)).toMatchObject({ holds: [], faults: [] });
  });

  test('keeps its credit over a restart', async () => {
    const before = await balanceOf(place.stranger.key);
    await grant({ workspace: 'elsewhere', usd: '1' });
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ config: paidConfig(fake.baseUrl), home: daemon.home });
    const after = await balanceOf(place.stranger.key);
    expect(Math.round((Number(after) - Number(before)) * 1e9)).toBe(1e9);
    expect((await ask(place.stranger.key)).status).toBe(200);
    const listed = await send(daemon.login, '/v1/admin/credit?workspace=elsewhere');
    expect(listed.body.data).toMatchObject([
      { slug: 'elsewhere', billing: 'prepaid', granted_usd: '1.005', held_usd: '0' },
    ]);
    const all = await send(daemon.login, '/v1/admin/credit');
    expect(all.body.data).toMatchObject([{ billing: 'postpaid', balance_usd: null }, { billing: 'prepaid' }]);
  });
});

describe('the ledger', () => {
  test('adds up', async () => {
    const check = await verified();
    expect(check).toMatchObject({ ok: true, problems: [], grants: 2, holds: 0 });
    expect(check.entries).toBeGreaterThan(20);
    expect((await send(daemon.login, '/v1/admin/ledger/verify')).body.ok).toBe(true);
  });

  test('reports every inconsistency', async () => {
    const database = new Database(join(daemon.home, 'gateway.db'));
    const [keyId] = database.prepare('SELECT key_id FROM key_spend').pluck().all() as string[];
    database.exec(`
      UPDATE key_spend SET amount = amount + 5 WHERE key_id = '${keyId}';
      UPDATE accounts SET balance = balance + 7 WHERE id = 'margin' OR id = 'grants';
      INSERT INTO entries VALUES ('req_nobody', 'margin', 'a', 'b', 5, 0);
      INSERT INTO holds (request_id, workspace_id, endpoint, model, streamed, own_key, amount, prompt_input,
        prompt_cached_input, prompt_cache_write, prompt_output, prompt_reasoning, prompt_cost, created_at)
      VALUES ('req_ghost', 'ws_1', 'x', 'm', 0, 0, 5, 0, 0, 0, 0, 0, 0, 0);`);
    database.close();
    const check = await verified();
    expect(check.ok).toBe(false);
    const text = check.problems.join('\n');
    expect(text).toMatch(/balance of grants is -?\d+ nano-dollars, but its entries add up to/);
    expect(text).toContain('All balances in nano-dollars add up to 7');
    expect(text).toContain(`The spending of ${keyId} on `);
    expect(text).toContain('req_nobody belong to no call');
    expect(text).toContain('Money is held for req_ghost, but no such call is running.');
    const mend = new Database(join(daemon.home, 'gateway.db'));
    mend.exec("UPDATE accounts SET balance = balance - 7 WHERE id = 'margin' OR id = 'grants'");
    mend.close();
  });
});

test('billing.mode: prepaid makes the owner’s workspace pay in advance too', async () => {
  const other = await startDaemon({ config: `${paidConfig(fake.baseUrl)}billing: { mode: prepaid }\n` });
  try {
    const json = { model: 'paid/small', input: 'Hello.', max_output_tokens: 100 };
    expect((await other.fetch('/v1/responses', { json })).status).toBe(402);
    const headers = { authorization: `Bearer ${other.login}` };
    await other.fetch('/v1/admin/credit', { json: { workspace: 'me', usd: '1' }, headers });
    expect((await other.fetch('/v1/responses', { json })).status).toBe(200);
    const { balance_usd: balance } = (await (await other.fetch('/v1/key')).json()) as { balance_usd: string };
    expect(balance).toBe('0.99978');
  } finally {
    await other.stop();
  }
});
