import { afterAll, beforeAll, expect, test } from 'vitest';
import { everythingShown, filesOf } from '../support/canaries.ts';
import { answers } from '../support/chaos-behaviours.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { tellEverywhere } from '../support/telling-persons.ts';

const anna = 'anna@example.com';
const usage = { input: 100, output: 7 };

let chaos: ChaosUpstream;
let daemon: RunningDaemon;
let pseudonym = '';

beforeAll(async () => {
  chaos = await startChaosUpstream(answers({ text: 'Yes.', usage }));
  daemon = await startDaemon({
    config: `log: {level: trace}
upstreams: [{name: echo, base_url: "${chaos.baseUrl}", models: ["*"], wire: responses, prices: {input: "3", output: "9"}}]
`,
  });
  const made = (await (await asOwner('/v1/threads', 'POST', {})).json()) as { thread: { id: string } };
  for (const id of ['anna-day', 'anna-where', 'anna-tag'])
    await asOwner(`/v1/workspaces/me/budgets/${id.slice(5)}`, 'PUT', budgets[id]);
  for (const user of ['bob', anna])
    await tellEverywhere(
      { ...daemon, model: chaos.addModel('echo', answers({ text: 'Yes.', usage })), user, text: 'Hello' },
      made.thread.id,
    );
  await ask({
    'x-service-user': 'bob',
    'x-service-tags': `email=${anna},team=a`,
    'x-service-conversation': anna,
    // What others say of a person is theirs.
    'x-service-capture': 'off',
  });
  await ask({ 'x-service-user': `not-${anna}` });
});

afterAll(async () => {
  await daemon.stop();
  await chaos.close();
});

const budgets: Record<string, object> = {
  'anna-day': { usd: '9', period: 'day', scope: 'user', value: anna, thresholds: [1] },
  'anna-tag': { usd: '9', period: 'day', scope: 'tag', value: `email=${anna}` },
  'anna-where': { usd: '9', period: 'day', scope: 'where', value: `user:${anna} -tag:email=${anna}` },
};

const asOwner = (path: string, method = 'GET', json?: object) =>
  fetch(daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    body: json === undefined ? null : JSON.stringify(json),
  });

async function ask(headers: Record<string, string>) {
  const answer = await daemon.fetch('/v1/responses', {
    json: { model: 'echo/any', input: 'Hello' },
    headers,
  });
  expect(answer.status).toBe(200);
}

async function placesOf(text: string): Promise<string[]> {
  const places = [...(await everythingShown(daemon)), ...filesOf(daemon)];
  const alone = new RegExp(`(?<!not-)${text.replaceAll('.', '\\.')}`);
  return places.filter(([, content]) => alone.test(content)).map(([place]) => place);
}

/** Usage by the labels that change, and by one that does not, with `person` in the place of a name. */
async function totals(name: string) {
  const of = async (group: string) => {
    const text = await (await asOwner(`/v1/usage?group_by=${group}`)).text();
    const { data, total } = JSON.parse(text.replaceAll(name, 'person')) as { data: object[]; total: object };
    return { rows: data.map((row) => JSON.stringify(row)).sort(), total };
  };
  return [await of('user'), await of('tag'), await of('model')];
}

test('a pseudonym stands for an end user everywhere, and no total changes', async () => {
  expect((await placesOf(anna)).length).toBeGreaterThan(5);
  const before = await totals(anna);
  const { stdout, stderr } = await runCli(
    ['capture', 'clear', '--user', anna, '--forget', '--yes', '--json'],
    {
      env: { GATEWAY_HOME: daemon.home },
    },
  );
  expect(stderr).toBe('');
  const { forgotten } = JSON.parse(stdout) as { forgotten: { pseudonym: string } };
  expect(forgotten).toMatchObject({ calls: 10, rejections: 2, budgets: ['day', 'tag', 'where'] });
  ({ pseudonym } = forgotten);
  expect(pseudonym).toMatch(/^forgotten-[0-9a-f]{16}$/);
  const after = JSON.parse(JSON.stringify(await totals(pseudonym)).replaceAll(anna, 'person'));
  expect(after).toEqual(before);
  await expect.poll(() => placesOf(anna)).toEqual([]);
  expect((await placesOf(pseudonym)).length).toBeGreaterThan(5);
  const verified = await runCli(['ledger', 'verify'], { env: { GATEWAY_HOME: daemon.home } });
  expect([verified.code, verified.stderr]).toEqual([0, expect.stringMatching(/^The ledger balances/)]);
});

test('later calls of the same person have the name, and are not linked with the pseudonym', async () => {
  await ask({ 'x-service-user': anna });
  const found = async (user: string) => {
    const answer = await asOwner(`/v1/traces?q=${encodeURIComponent(`user:${user}`)}`);
    return ((await answer.json()) as { data: unknown[] }).data.length;
  };
  expect([await found(anna), await found(pseudonym)]).toEqual([1, 12]);
  const rows = (await (await asOwner('/v1/usage?group_by=user')).json()) as {
    data: { group: string | null; requests: number }[];
  };
  const requests = Object.fromEntries(rows.data.map(({ group, requests }) => [group, requests]));
  expect(requests).toMatchObject({ [anna]: 1, [pseudonym]: 10, bob: 11, [`not-${anna}`]: 1 });
});

test('the event says that it happened without the name, and budgets count the pseudonym', async () => {
  const leave = new AbortController();
  const path = '/v1/events?after=0&type=user.forgotten';
  const headers = { authorization: `Bearer ${daemon.login}` };
  const stream = await fetch(daemon.url + path, { headers, signal: leave.signal });
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (text.includes('user.forgotten')) break;
  }
  leave.abort();
  expect(text).toContain(`"data":{"user":"${pseudonym}","calls":12}`);
  const { data } = (await (await asOwner('/v1/workspaces/me/budgets')).json()) as {
    data: { value: string }[];
  };
  expect(data.map(({ value }) => value)).toEqual([
    pseudonym,
    `email=${pseudonym}`,
    `user:${pseudonym} -tag:email=${pseudonym}`,
  ]);
});

test.each([
  ['', 'forget'],
  [`&user=${anna}&until=2026-01-01`, 'forget'],
])('forgetting needs a user and nothing else: %s', async (query, param) => {
  const answer = await asOwner(`/v1/traces/content?forget=true${query}`, 'DELETE');
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param } });
});
