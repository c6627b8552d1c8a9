import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import type { FakeOpenAi } from '../support/fake-openai.ts';
import { isGenuine, startHookReceiver } from '../support/hook-receiver.ts';
import { paidConfig, paidDaemon, paidUsage } from '../support/paid-daemon.ts';
import { runCli } from '../support/run-cli.ts';
import type { RunningDaemon } from '../support/start-daemon.ts';
import { type Answer, addMember, addPerson, askDaemon } from '../support/users.ts';

const paid = paidDaemon();
let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(() => {
  ({ fake, daemon } = paid());
});

type Daemon = Pick<RunningDaemon, 'url' | 'login' | 'key'>;

const own = '/v1/workspaces/me/alerts';
const asOwner = (method: string, path: string, json?: unknown, target: Daemon = daemon) =>
  askDaemon(target, method, path, { as: target.login, json });

/** Adds or changes an alert, which is evaluated at once. */
async function put(id: string, json: object, target: Daemon = daemon): Promise<Answer['body']> {
  const { status, body } = await asOwner('PUT', `${own}/${id}`, { window_minutes: 60, ...json }, target);
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}

const firings = async (query: string, target: Daemon = daemon) =>
  (await asOwner('GET', `${own}/fired?${query}`, undefined, target)).body.data;

async function newReceiver() {
  const receiver = await startHookReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

const call = (body: object = {}, as = daemon.key, target: Daemon = daemon) => {
  const json = { model: 'paid/small', input: 'Hello.', store: false, ...body };
  return askDaemon(target, 'POST', '/v1/responses', { as, json });
};
const newKey = async (name: string) =>
  (await asOwner('POST', '/v1/workspaces/me/keys', { name })).body as {
    key: { id: string };
    secret: string;
  };

describe('alerts', () => {
  test('are set, shown, listed, replaced and deleted; members see them, owners and admins change them', async () => {
    const made = await put('shown', { kind: 'spend', threshold: '5.50', model: 'paid/large' });
    expect(made).toMatchObject({
      id: 'shown',
      object: 'alert',
      kind: 'spend',
      window_minutes: 60,
      threshold: '5.5',
      unit: 'usd',
      key: null,
      model: 'paid/large',
      state: 'ok',
      value: '0',
      message: null,
      webhook: null,
      webhook_secret: null,
    });
    const { body: shown } = await asOwner('GET', `${own}/shown`);
    expect({ ...shown, webhook_secret: null }).toEqual(made);
    const changed = await put('shown', { kind: 'error_share', threshold: '2.5', min_calls: 7 });
    expect(changed).toMatchObject({ unit: 'percent', threshold: '2.5', min_calls: 7, model: null });
    expect((await asOwner('GET', own)).body.data).toHaveLength(1);

    const ann = await addPerson(daemon, 'ann');
    await addMember(daemon, 'me', ann, 'member');
    const { body: home } = await asOwner('GET', '/v1/workspaces/me');
    const inOurs = `/v1/workspaces/${home.id}/alerts`;
    expect((await askDaemon(daemon, 'GET', inOurs, { as: ann.login })).body.data).toHaveLength(1);
    for (const [method, path, json] of [
      ['PUT', '/shown', { kind: 'silence', window_minutes: 60 }],
      ['DELETE', '/shown', undefined],
      ['POST', '/shown/test', undefined],
    ] as const) {
      const { body } = await askDaemon(daemon, method, inOurs + path, { as: ann.login, json });
      expect(body.error?.code).toBe('permission');
    }
    for (const [id, status] of [
      // The path of the firings.
      ['fired', 405],
      ['Slow', 404],
    ]) {
      const json = { kind: 'silence', window_minutes: 60 };
      expect((await asOwner('PUT', `${own}/${id}`, json)).status).toBe(status);
    }
    expect((await asOwner('DELETE', `${own}/shown`)).body).toMatchObject({ id: 'shown', deleted: true });
    expect((await asOwner('GET', `${own}/shown`)).status).toBe(404);
  });

  test('count the calls of their key, model or provider only', async () => {
    const [ours, theirs] = [await newKey('ours'), await newKey('theirs')];
    await call({}, ours.secret);
    const states = async (filters: Record<string, object>) => {
      const kinds = { kind: 'spend', threshold: '0.0001' };
      const found = Object.entries(filters).map(async ([id, filter]) => [
        id,
        (await put(id, { ...kinds, ...filter })).state,
      ]);
      return Object.fromEntries(await Promise.all(found));
    };
    expect(
      await states({
        ours: { key: ours.key.id },
        theirs: { key: theirs.key.id },
        small: { model: 'paid/small' },
        large: { model: 'paid/large' },
        paid: { provider: 'paid' },
        other: { provider: 'sim' },
      }),
    ).toEqual({ ours: 'firing', theirs: 'ok', small: 'firing', large: 'ok', paid: 'firing', other: 'ok' });
    expect((await firings('open=true&alert=ours'))[0]).toMatchObject({
      alert: 'ours',
      key: ours.key.id,
      value: '0.00022',
      resolved_at: null,
      message: expect.stringContaining(`with ${ours.key.id} cost $0.00022`),
    });
    for (const id of ['ours', 'theirs', 'small', 'large', 'paid', 'other'])
      await asOwner('DELETE', `${own}/${id}`);
    expect(await firings('open=true')).toEqual([]);
  });

  test('fire and resolve with signed messages; one that the receiver refuses is sent again', async () => {
    const receiver = await newReceiver();
    const { key, secret: as } = await newKey('failing');
    const settings = { kind: 'error_share', threshold: '50', min_calls: 1, key: key.id };
    const saved = await put('failing', { ...settings, webhook_url: receiver.url });
    const { webhook_secret: secret } = saved;
    expect(saved.webhook).toEqual({
      origin: new URL(receiver.url).origin,
      format: null,
      last_delivery: null,
    });
    receiver.answerWith(500);
    fake.always({ error: { status: 400, message: 'Too bad.' } });
    await call({}, as);
    fake.always({ text: 'Better.', usage: paidUsage });
    expect(await put('failing', settings)).toMatchObject({
      state: 'firing',
      value: '100',
      webhook_secret: null,
    });
    const state = async (at: number) => {
      const { body } = await asOwner('GET', `${own}/failing`);
      return body.webhook.last_delivery?.attempts === at ? body.webhook.last_delivery : undefined;
    };
    expect(await eventually('the first attempt', async () => receiver.received.length > 0)).toBe(true);
    const delivered = await eventually('the second attempt', async () => {
      const last = await state(2);
      return last?.state === 'delivered' ? last : undefined;
    });
    expect(delivered).toMatchObject({ type: 'alert.fired', http_status: 204, failure: null });
    for (let index = 0; index < 2; index += 1) await call({}, as);
    expect(await put('failing', settings)).toMatchObject({ state: 'ok', value: '33.33', message: null });
    await eventually('the message of the end', async () => receiver.received.length === 3);
    expect(receiver.received.map(({ body }) => [body.type, body.data.value])).toEqual([
      ['alert.fired', '100'],
      ['alert.fired', '100'],
      ['alert.resolved', '33.33'],
    ]);
    const ids = receiver.received.map(({ id }) => id);
    expect([ids[0] === ids[1], ids[1] === ids[2]]).toEqual([true, false]);
    for (const message of receiver.received) expect(isGenuine(message, secret)).toBe(true);
    const renewed = await put('failing', { ...settings, new_secret: true });
    const { body: tested } = await asOwner('POST', `${own}/failing/test`);
    expect(tested).toMatchObject({ object: 'alert.delivery', type: 'alert.test', state: 'delivered' });
    const last = receiver.received.at(-1);
    expect(last && [isGenuine(last, secret), isGenuine(last, renewed.webhook_secret)]).toEqual([false, true]);
    await asOwner('DELETE', `${own}/failing`);
  });

  test('fire for a benched provider', async () => {
    await put('benched', { kind: 'benched', provider: 'paid' });
    fake.always({ error: { status: 401, message: 'Incorrect API key provided.' } });
    await call();
    const fired = await put('benched', { kind: 'benched', provider: 'paid' });
    expect(fired).toMatchObject({
      state: 'firing',
      value: '1',
      unit: null,
      message: 'Benched in the last hour: paid.',
    });
    expect(await put('benched', { kind: 'benched', provider: 'another' })).toMatchObject({ state: 'ok' });
    await asOwner('DELETE', `${own}/benched`);
  });

  test('show on which days they would have fired', async () => {
    const condition = { kind: 'spend', window_minutes: 15, threshold: '0.0001', provider: 'paid' };
    const { body } = await asOwner('POST', '/v1/workspaces/me/alert-previews', condition);
    expect(body).toMatchObject({ object: 'alert.preview', unit: 'usd' });
    expect(body.days).toHaveLength(7);
    expect(body.days.at(-1)).toMatchObject({ firings: 1, peak: expect.stringMatching(/^0\.00/) });
    const { body: refused } = await asOwner('POST', '/v1/workspaces/me/alert-previews', {
      ...condition,
      window_minutes: 20,
    });
    expect([refused.error.code, refused.error.param]).toEqual(['invalid_request', 'window_minutes']);
  });

  test('of people who do not own the host reach public addresses only', async () => {
    const ben = await addPerson(daemon, 'ben');
    for (const url of [
      'http://127.0.0.1:9',
      'https://127.0.0.1:9',
      'https://[::ffff:10.0.0.1]/',
      'https://localhost/',
    ]) {
      const json = { kind: 'silence', window_minutes: 60, webhook_url: url };
      const { body } = await askDaemon(daemon, 'PUT', `${own}/ours`, { as: ben.login, json });
      expect([url, body.error?.param]).toEqual([url, 'webhook_url']);
    }
  });

  test('are followed by a command, which gets the event as data only', async () => {
    const ctrlC = new AbortController();
    const [output, trap] = [`${daemon.home}/seen`, `${daemon.home}/trap`];
    const model = `$(touch ${trap}); \`touch ${trap}\`; '; touch ${trap} #`;
    const fireAndResolve = async () => {
      await call({ model });
      await put('hostile', { kind: 'rejections', threshold: '1', model });
      await asOwner('DELETE', `${own}/hostile`);
    };
    const { stdout } = await runCli(
      [
        'alerts',
        'watch',
        '--exec',
        `cat >> ${output}; echo "$GATEWAY_ALERT|$GATEWAY_ALERT_MESSAGE" >> ${output}`,
      ],
      {
        env: { GATEWAY_HOME: daemon.home, PATH: process.env.PATH ?? '' },
        interrupt: ctrlC.signal,
        onStderr(text) {
          if (text.includes('Following')) void fireAndResolve();
        },
        onStdout(text) {
          if (text.includes('resolved')) ctrlC.abort(new Error('interrupted'));
        },
      },
    );
    expect(stdout).toMatch(/firing {4}hostile {2}1 of the calls of \$\(touch /);
    const [json = '', variables] = (await readFile(output, 'utf8')).split('\n');
    const { type, data } = JSON.parse(json);
    expect([type, data.alert, data.model]).toEqual(['alert.fired', 'hostile', model]);
    expect(variables).toBe(`hostile|${data.message}`);
    expect(existsSync(trap)).toBe(false);
  });
});

test('a message whose receiver did not answer before the daemon was killed arrives after the restart, and silence fires', async () => {
  const receiver = await newReceiver();
  let child = await startChildDaemon({ config: paidConfig(fake.baseUrl) });
  onTestFinished(() => child.remove());
  receiver.answerWith('none');
  await call({}, child.key, child);
  const spend = { kind: 'spend', threshold: '0.0001' };
  const { webhook_secret: secret, state } = await put('dear', { ...spend, webhook_url: receiver.url }, child);
  expect(state).toBe('firing');
  await put('quiet', { kind: 'silence', model: 'paid/large' }, child);
  await eventually('the message is sent', () => receiver.received.length === 1);
  child.signal('SIGKILL');
  await child.ended;
  // The alert on silence has waited for its window.
  const database = new Database(`${child.home}/gateway.db`);
  database.exec("UPDATE alerts SET created_at = 0, since = 0 WHERE id = 'quiet'");
  const stored = JSON.stringify(database.prepare('SELECT * FROM alerts, alert_deliveries').all());
  expect(stored).not.toMatch(/hidden|whsec_/);
  database.close();
  child = await startChildDaemon({ home: child.home });
  await eventually('the message is sent again', () => receiver.received.length === 2);
  const [first, second] = receiver.received;
  expect(second?.id).toBe(first?.id);
  for (const message of receiver.received) expect(isGenuine(message, secret)).toBe(true);
  const delivery = async () =>
    (await asOwner('GET', `${own}/dear`, undefined, child)).body.webhook.last_delivery;
  await eventually('the message is delivered', async () => (await delivery()).state === 'delivered');
  expect(await put('quiet', { kind: 'silence', model: 'paid/large' }, child)).toMatchObject({
    state: 'firing',
    value: '0',
    message: 'There were no calls of paid/large in the last hour.',
  });
  // Each firing is stored once.
  expect((await firings('', child)).map(({ alert }: { alert: string }) => alert)).toEqual(['quiet', 'dear']);
});
