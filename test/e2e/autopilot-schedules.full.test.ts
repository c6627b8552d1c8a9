import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { runCli } from '../support/run-cli.ts';
import { newToken } from '../support/site.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson, askDaemon } from '../support/users.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect in it.
type Json = any;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const schedule = { cron: '* * * * *', timeZone: 'UTC', input: 'What is new?' };

/** Calls the site API, whose answers are in `data`. */
const asked = async (
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  [method, path, json]: [method: string, path: string, json?: object],
  as = daemon.login,
): Promise<Json> => {
  const answer = await askDaemon(daemon, method, path, { as, json });
  expect([answer.status, answer.body.errors ?? answer.body.error]).toEqual([200, undefined]);
  return answer.body.data;
};
const create = (daemon: Pick<RunningDaemon, 'url' | 'login'>, json: object, as?: string): Promise<Json> =>
  asked(daemon, ['POST', '/api/autopilots', { displayName: 'Night Watch', ...json }], as);
const runsOf = (daemon: Pick<RunningDaemon, 'url' | 'login'>, { id }: Json): Promise<Json[]> =>
  asked(daemon, ['GET', `/api/autopilots/${id}/runs`]);

/** The environment of a daemon whose clock shows a time when it starts. */
const clockAt = (time: number): Record<string, string> => ({ CLOCK_AHEAD_MS: String(time - Date.now()) });
/** The start of the next hour. */
const nextHour = () => Math.ceil(Date.now() / hourMs) * hourMs;

/** Events of a daemon that are stored. */
async function eventsOf({ url, login }: ChildDaemon, type: string): Promise<Json[]> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${login}` };
  const answer = await fetch(`${url}/v1/events?type=${type},key.issued&after=0`, {
    headers,
    signal: stop.signal,
  });
  // The key that is issued now comes last.
  await askDaemon({ url }, 'POST', '/v1/workspaces/me/keys', { as: login, json: { name: `end of ${type}` } });
  const found: Json[] = [];
  let text = '';
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes(`end of ${type}`)) break;
  }
  stop.abort();
  for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) found.push(JSON.parse(data));
  return found.filter((event) => event.type === type);
}

describe('a schedule', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ config: 'default_model: sim/echo\n' });
  });

  afterAll(async () => {
    await daemon.stop();
  });

  const patch = (id: string, json: object): Promise<Json> =>
    asked(daemon, ['PATCH', `/api/autopilots/${id}`, json]);

  test('plans the next run, in the time zone of the host by default', async () => {
    const before = Date.now();
    const made = await create(daemon, { schedule: { cron: '0 8 * * *', input: 'What is new?' } });
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    expect(made.schedule).toEqual({ cron: '0 8 * * *', timeZone, input: 'What is new?', paused: false });
    expect(Date.parse(made.nextRunAt)).toBeGreaterThan(before);
    const changed = await patch(made.id, { schedule: { timeZone: 'Asia/Tokyo', maxSpendMsats: 5000 } });
    expect(changed.schedule).toEqual({ ...made.schedule, timeZone: 'Asia/Tokyo', maxSpendMsats: 5000 });
    expect(changed.nextRunAt).toMatch(/T23:00:00\.000Z$/);
    expect(changed.configVersion).toBe(1);
    const listed = await asked(daemon, ['GET', '/api/autopilots']);
    expect(listed[0]).toMatchObject({ id: made.id, nextRunAt: changed.nextRunAt });
  });

  test('plans none while it is paused, and while the autopilot is not active', async () => {
    const { id, nextRunAt } = await create(daemon, { schedule });
    expect(nextRunAt).not.toBeNull();
    expect((await patch(id, { schedule: { paused: true } })).nextRunAt).toBeNull();
    expect((await patch(id, { schedule: { paused: false } })).nextRunAt).not.toBeNull();
    expect((await patch(id, { status: 'disabled' })).nextRunAt).toBeNull();
    expect((await patch(id, { status: 'active' })).nextRunAt).not.toBeNull();
    expect(await patch(id, { schedule: null })).toMatchObject({ schedule: null, nextRunAt: null });
    await patch(id, { schedule });
    const archived = await asked(daemon, ['DELETE', `/api/autopilots/${id}`]);
    expect([archived.status, archived.nextRunAt]).toEqual(['archived', null]);
  });

  test.each<[object, string]>([
    [{ cron: 'daily', input: 'Go.' }, 'schedule.cron'],
    [{ cron: '0 0 30 2 *', input: 'Go.' }, 'schedule.cron'],
    [{ input: 'Go.' }, 'schedule.cron'],
    [{ cron: '@daily' }, 'schedule.input'],
    [{ cron: '@daily', input: ' ' }, 'schedule.input'],
    [{ cron: '@daily', input: 'Go.', timeZone: 'Mars/Olympus' }, 'schedule.timeZone'],
    [{ cron: '@daily', input: 'Go.', maxSpendMsats: -1 }, 'schedule.maxSpendMsats'],
    [{ cron: '@daily', input: 'Go.', every: 5 }, 'schedule.every'],
  ])('%j is refused', async (given, member) => {
    const json = { displayName: 'Night Watch', schedule: given };
    const answer = await askDaemon(daemon, 'POST', '/api/autopilots', { as: daemon.login, json });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [member]]);
  });

  test('needs a model', async () => {
    const bare = await startDaemon();
    onTestFinished(async () => void (await bare.stop()));
    const ask = (json: object) =>
      askDaemon(bare, 'POST', '/api/autopilots', { as: bare.login, json: { displayName: 'Clock', ...json } });
    const refused = await ask({ schedule });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['policy.model']]);
    expect((await ask({ schedule, policy: { model: 'sim/echo' } })).status).toBe(200);
    expect((await ask({})).status).toBe(200);
  });

  test('needs the rights to run autopilots', async () => {
    const issue = async (scopes: string[]) => {
      const json = { name: scopes.join(), scopes };
      const { body } = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', { as: daemon.login, json });
      return body.secret as string;
    };
    const json = { displayName: 'Night Watch', schedule };
    const weak = await askDaemon(daemon, 'POST', '/api/autopilots', { as: await issue(['workspace']), json });
    expect(weak.status).toBe(403);
    await create(daemon, { schedule }, await issue(['workspace', 'responses', 'threads']));
  });

  test('is set and shown by commands', async () => {
    const env = { GATEWAY_HOME: daemon.home };
    const run = async (...args: string[]) => {
      const result = await runCli(['autopilots', ...args], { env, tty: true, columns: 200 });
      expect([result.code, result.stderr]).toEqual([0, '']);
      return stripVTControlCharacters(result.stdout);
    };
    const args = ['--schedule', '0 8 * * mon-fri', '--time-zone', 'Europe/Rome', '--input', 'News?'];
    const made = await run('create', 'Clock', ...args, '--spend-cap', '1/day', '--run-max-sats', '50');
    expect(made).toContain('0 8 * * mon-fri (Europe/Rome), at most 50 sats: News?');
    expect(made).toMatch(/next run\S* +(Mon|Tue|Wed|Thu|Fri|Sun) \d+ \w{3} \d{4}, \d\d:\d\d \S+/);
    expect(made).toContain('"modelSpendCap":{"usd":"1","period":"day"}');
    expect(await run('update', 'clock', '--pause')).toContain('(Europe/Rome), paused, at most');
    expect(await run('update', 'clock', '--schedule', 'none', '--spend-cap', 'none')).toMatch(
      /schedule\S* +none/,
    );
    expect(await run('show', 'clock')).not.toContain('modelSpendCap');
  });
});

describe('scheduled runs', () => {
  const config = 'default_model: sim/echo\n';
  /** Before a run is due. */
  const soonMs = 20_000;

  /** Finds a run, while the clock of the daemon goes on by a second each time: its schedules may not be read yet. */
  const whenDue = (
    daemon: Pick<RunningDaemon, 'url' | 'login'> & { advance(ms: number): unknown },
    autopilot: Json,
    isWanted: (run: Json) => boolean,
  ): Promise<Json> =>
    eventually('the run', async () => {
      await daemon.advance(1_000);
      return (await runsOf(daemon, autopilot)).find(isWanted);
    });

  test('start by themselves, in a new chat, and are listed', async () => {
    const daemon = await startDaemon({ config });
    onTestFinished(async () => void (await daemon.stop()));
    const autopilot = await create(daemon, { schedule });
    const run = await whenDue(daemon, autopilot, ({ status }) => status === 'completed');
    expect(run).toMatchObject({ meta: { scheduledAt: autopilot.nextRunAt }, error: null, notRun: null });
    const messages = await asked(daemon, ['GET', `/api/chats/${run.chatId}/messages`]);
    expect(messages).toMatchObject([{ role: 'user', content: 'What is new?' }, { role: 'assistant' }]);
    const { nextRunAt } = await asked(daemon, ['GET', `/api/autopilots/${autopilot.id}`]);
    expect(Date.parse(nextRunAt) - Date.parse(autopilot.nextRunAt)).toBe(minuteMs);
  });

  test('that were missed while the daemon was down are reported once, and not made up for', async () => {
    const first = nextHour() + 10 * minuteMs;
    let daemon = await startChildDaemon({ config, env: clockAt(first) });
    onTestFinished(() => daemon.remove());
    const autopilot = await create(daemon, { schedule: { ...schedule, cron: '0 * * * *' } });
    daemon.signal('SIGKILL');
    await daemon.ended;
    for (let start = 0; start < 2; start += 1) {
      daemon = await startChildDaemon({ home: daemon.home, env: clockAt(first + 5 * hourMs) });
      const [missed, ...others] = await eventually('the report', async () => {
        const runs = await runsOf(daemon, autopilot);
        return runs.length > 0 && runs;
      });
      expect(others).toEqual([]);
      expect(missed).toMatchObject({ status: 'missed', chatId: null, usage: null, notRun: { count: 5 } });
      expect(missed.notRun.firstAt).toBe(autopilot.nextRunAt);
      expect(await eventsOf(daemon, 'autopilot.run_missed')).toMatchObject([
        { data: { autopilot: autopilot.id, count: 5, first_at: autopilot.nextRunAt } },
      ]);
      daemon.signal('SIGTERM');
      await daemon.ended;
    }
    daemon = await startChildDaemon({ home: daemon.home, env: clockAt(first) });
    expect(await runsOf(daemon, autopilot)).toHaveLength(1);
  });

  test('that the daemon is killed in have failed at its next start, and later ones start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-script-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const script = join(folder, 'script.yaml');
    await writeFile(script, 'default: {latency_ms: 600000, reply: Too late.}\n');
    let daemon = await startChildDaemon({ config: `${config}simulate: ${script}\n` });
    onTestFinished(() => daemon.remove());
    const autopilot = await create(daemon, { schedule });
    await whenDue(daemon, autopilot, () => true);
    daemon.signal('SIGKILL');
    await daemon.ended;
    const later = Date.parse(autopilot.nextRunAt) + 2 * minuteMs;
    daemon = await startChildDaemon({ home: daemon.home, env: clockAt(later - soonMs) });
    const { id } = (await runsOf(daemon, autopilot)).find(({ status }) => status === 'failed');
    await whenDue(daemon, autopilot, (run) => run.status === 'running' && run.id !== id);
    const statuses = (await runsOf(daemon, autopilot)).map(({ status }) => status);
    expect(statuses).toEqual(['running', 'missed', 'failed']);
  });

  test('end with the key that set the schedule', async () => {
    let daemon = await startChildDaemon({ config });
    onTestFinished(() => daemon.remove());
    const json = { name: 'pilot', scopes: ['workspace', 'responses', 'threads'] };
    const { body } = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', { as: daemon.login, json });
    const autopilot = await create(daemon, { schedule }, body.secret);
    const path = `/v1/workspaces/me/keys/${body.key.id}`;
    await askDaemon(daemon, 'DELETE', path, { as: daemon.login });
    daemon.signal('SIGKILL');
    await daemon.ended;
    const env = clockAt(Date.parse(autopilot.nextRunAt) - soonMs);
    daemon = await startChildDaemon({ home: daemon.home, env });
    const skipped = await whenDue(daemon, autopilot, ({ status }) => status === 'skipped');
    expect(skipped).toMatchObject({ error: { code: 'unauthenticated' } });
    expect(await eventsOf(daemon, 'autopilot.run_skipped')).toMatchObject([
      { data: { autopilot: autopilot.id, code: 'unauthenticated' } },
    ]);
  });
});

describe('a cap on model costs', () => {
  let fake: FakeOpenAi;
  let daemon: RunningDaemon;
  const config = () =>
    `upstreams: [{name: paid, base_url: '${fake.baseUrl}', models: [small], prices: {input: "1", output: "2"}}]\n`;
  const usd = (text: string) => Math.round(Number(text) * 1e9);

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    fake.always({ text: 'Some words.', usage: { input: 20, output: 1000 } });
    daemon = await startDaemon({ config: config() });
  });

  afterAll(async () => {
    await daemon.stop();
    await fake.close();
  });

  const capped = (amount: string) =>
    create(daemon, { policy: { model: 'paid/small', modelSpendCap: { usd: amount, period: 'total' } } });
  const run = async ({ id }: Json, as = daemon.login): Promise<Json> => {
    const started = await asked(daemon, ['POST', `/api/autopilots/${id}/runs`, { input: 'Go.' }], as);
    return await eventually('the end of the run', async () => {
      const shown = await asked(daemon, ['GET', `/api/autopilots/${id}/runs/${started.id}`]);
      return shown.status !== 'running' && shown;
    });
  };
  const spent = async ({ id }: Json) =>
    usd((await asked(daemon, ['GET', `/api/autopilots/${id}`])).modelSpend.totalUsd);

  test('holds for runs of all credentials at the same time, and over a restart', async () => {
    const autopilot = await capped('0.02');
    const { body } = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', {
      as: daemon.login,
      json: { name: 'pilot', scopes: ['workspace', 'responses', 'threads'] },
    });
    const { secret: token } = await newToken(daemon, daemon.login, ['autopilots:*']);
    const callers = Array.from({ length: 12 }, (_, at) => [daemon.login, body.secret, token][at % 3]);
    const runs = await Promise.all(callers.map((as) => run(autopilot, as)));
    const refused = runs.filter(({ status }) => status === 'failed');
    for (const { error } of refused)
      expect(error).toMatchObject({
        code: 'limit_reached',
        message: expect.stringMatching(/^This autopilot/),
      });
    let last: Json;
    do last = await run(autopilot);
    while (last.status === 'completed');
    const total = await spent(autopilot);
    const charged = (await runsOf(daemon, autopilot)).map(({ usage }) => usd(usage?.chargedUsd ?? '0'));
    expect(total).toBe(charged.reduce((sum, each) => sum + each, 0));
    // Less is left than the prompt could cost.
    expect([total <= 20_000_000, total > 14_000_000]).toEqual([true, true]);

    const { home } = daemon;
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ config: config(), home });
    expect((await run(autopilot)).error).toMatchObject({ code: 'limit_reached' });
    expect(await spent(autopilot)).toBe(total);
    const { stdout } = await runCli(['ledger', 'verify'], { env: { GATEWAY_HOME: home } });
    expect(stdout).not.toMatch(/problem/i);
  });

  test('and the cap of the key that starts a run both hold', async () => {
    const json = {
      name: 'poor',
      scopes: ['workspace', 'responses', 'threads'],
      limits: { spend_cap: { usd: '0.01', period: 'total' } },
    };
    const { body } = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', { as: daemon.login, json });
    const autopilot = await capped('1');
    let last: Json;
    do last = await run(autopilot, body.secret);
    while (last.status === 'completed');
    expect(last.error).toMatchObject({ code: 'limit_reached', message: expect.stringMatching(/^This key/) });
    expect(await spent(autopilot)).toBeLessThanOrEqual(10_000_000);
    expect((await run(autopilot)).status).toBe('completed');
  });

  test('can be lowered by anyone, and raised only by a credential that may pay', async () => {
    const { id } = await capped('1');
    const { secret: token } = await newToken(daemon, daemon.login, ['autopilots:*']);
    const change = async (modelSpendCap: object | null) =>
      (
        await askDaemon(daemon, 'PATCH', `/api/autopilots/${id}`, {
          as: token,
          json: { policy: { modelSpendCap } },
        })
      ).status;
    expect(await change({ usd: '0.5', period: 'total' })).toBe(200);
    for (const raised of [{ usd: '0.6', period: 'total' }, { usd: '0.5', period: 'day' }, null])
      expect(await change(raised)).toBe(403);
  });

  test('is that of its owner: a user sees no other autopilot', async () => {
    const { id } = await capped('1');
    const ann = await addPerson(daemon, 'ann');
    expect((await askDaemon(daemon, 'GET', `/api/autopilots/${id}`, { as: ann.login })).status).toBe(404);
  });
});
