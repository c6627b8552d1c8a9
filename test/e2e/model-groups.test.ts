import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let east: FakeOpenAi;
let west: FakeOpenAi;
let spare: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  [east, west, spare] = await Promise.all([startFakeOpenAi(), startFakeOpenAi(), startFakeOpenAi()]);
  const upstream = (name: string, { baseUrl }: FakeOpenAi) =>
    `  - { name: ${name}, base_url: "${baseUrl}", models: [large, small, vectors], prices: { input: "1", output: "2" } }`;
  daemon = await startDaemon({
    config: [
      'upstreams:',
      upstream('east', east),
      upstream('west', west),
      upstream('spare', spare),
      'aliases:',
      '  ordered: [east/large, west/large]',
      '  pool: { east/large: 3, west/large: 1 }',
      '  vectors: { east/vectors: 1, west/vectors: 1, spare/small: 1 }',
      '  partly: [nosuch/large, west/small]',
      '  one: east/small',
      'fallbacks:',
      '  east/small: [spare/small]',
      '  pool: [spare/large]',
    ].join('\n'),
  });
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([east, west, spare].map((fake) => fake.close()));
});

beforeEach(() => {
  for (const fake of [east, west, spare]) fake.forget();
});

const ask = (model: string, input: string, more: object = {}, headers: Record<string, string> = {}) =>
  daemon.fetch('/v1/responses', { json: { model, input, ...more }, headers });
const upstreamOf = (response: Response) => response.headers.get('x-service-upstream');
const overloaded = { error: { status: 503, message: 'Overloaded.' } };

test('an alias with a list tries its models in order', async () => {
  expect(upstreamOf(await ask('ordered', 'Hi.'))).toBe('east');
  east.script(overloaded);
  const second = await ask('ordered', 'Hi.');
  expect(second.status).toBe(200);
  expect(upstreamOf(second)).toBe('west');
  const { service } = (await second.json()) as {
    service: { attempts: { provider: string; status: number }[] };
  };
  expect(service.attempts).toMatchObject([
    { provider: 'east', status: 503 },
    { provider: 'west', status: 200 },
  ]);
});

test('weights distribute conversations, and each stays with its model', async () => {
  const firsts = await Promise.all(
    Array.from({ length: 80 }, async (_, index) => upstreamOf(await ask('pool', `Question ${index}`))),
  );
  const east3 = firsts.filter((name) => name === 'east').length;
  expect(east3).toBeGreaterThan(40);
  expect(east3).toBeLessThan(80);
  for (const index of [0, 1, 2, 3, 4, 5]) {
    const input = [
      { role: 'user', content: `Question ${index}` },
      { role: 'assistant', content: 'An answer.' },
      { role: 'user', content: 'And then?' },
    ];
    const next = await daemon.fetch('/v1/responses', { json: { model: 'pool', input } });
    expect(upstreamOf(next)).toBe(firsts[index]);
    const chat = await daemon.fetch('/v1/chat/completions', { json: { model: 'pool', messages: input } });
    expect(upstreamOf(chat)).toBe(firsts[index]);
  }
});

test('prompt_cache_key keeps calls together whatever they ask', async () => {
  const names = await Promise.all(
    Array.from({ length: 12 }, async (_, index) =>
      upstreamOf(await ask('pool', `Task ${index}`, { prompt_cache_key: 'agent-7' })),
    ),
  );
  expect(new Set(names).size).toBe(1);
});

test('the other models of a weighted alias are tried before its fallbacks', async () => {
  east.script(overloaded);
  west.script(overloaded);
  const response = await ask('pool', 'Hello?');
  expect(response.status).toBe(200);
  expect(upstreamOf(response)).toBe('spare');
  expect(east.requests).toHaveLength(1);
  expect(west.requests).toHaveLength(1);
});

test('configured fallbacks apply to a model by any of its names; those of a call replace them', async () => {
  east.script(overloaded, overloaded, overloaded);
  expect(upstreamOf(await ask('east/small', 'Hi.'))).toBe('spare');
  expect(upstreamOf(await ask('one', 'Hi.'))).toBe('spare');
  expect(upstreamOf(await ask('one', 'Hi.', { service: { fallbacks: ['west/small'] } }))).toBe('west');
});

test('a model of an alias that does not exist is skipped', async () => {
  expect(upstreamOf(await ask('partly', 'Hi.'))).toBe('west');
});

test('a key that may use one model of an alias is served by it', async () => {
  const issued = await daemon.fetch('/v1/workspaces/me/keys', {
    json: { name: 'west only', limits: { models: ['west/*'] } },
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  const { secret } = (await issued.json()) as { secret: string };
  const authorization = `Bearer ${secret}`;
  for (const index of [1, 2, 3, 4]) {
    expect(upstreamOf(await ask('pool', `Question ${index}`, {}, { authorization }))).toBe('west');
  }
  const refused = await ask('one', 'Hi.', {}, { authorization });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { param: 'limits.models' } });
});

test('embeddings use only models of the same name, whose vectors can be compared', async () => {
  const embed = async (input: string) =>
    upstreamOf(await daemon.fetch('/v1/embeddings', { json: { model: 'vectors', input } }));
  const names = await Promise.all(Array.from({ length: 24 }, (_, index) => embed(`text ${index}`)));
  expect([...new Set(names)].sort()).toEqual(['east', 'west']);
});

test('a key lists what it can use, and all models if asked', async () => {
  const issued = await daemon.fetch('/v1/workspaces/me/keys', {
    json: {
      name: 'lists west',
      models: ['west/*', 'openai/*', 'sim/echo'],
      limits: { models: ['*/large', 'sim/*'] },
    },
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  const { secret } = (await issued.json()) as { secret: string };
  const list = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await daemon.fetch(`/v1/models${query}`, {
      headers: { authorization: `Bearer ${secret}`, ...headers },
    });
    return (await answer.json()) as { data: { id: string }[]; has_more?: boolean; last_id?: string };
  };
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
  const usable = idsOf(await list(''));
  expect(usable.sort()).toEqual(
    [
      'sim/echo',
      'west/large',
      'ordered',
      'pool',
      ...usable.filter((id) => /^(service|engine)/.test(id)),
    ].sort(),
  );
  const all = idsOf(await list('?all=true'));
  expect(all).toEqual(expect.arrayContaining([...usable, 'east/large', 'openai/gpt-5']));
  const rest = idsOf(await list('?all=true&after=west%2Flarge'));
  expect(rest).toEqual(all.slice(all.indexOf('west/large') + 1));
  // A cursor that was listed stays one.
  expect(idsOf(await list('?after=openai%2Fgpt-5'))).toEqual(
    ['ordered', 'pool'].filter((id) => all.indexOf(id) > all.indexOf('openai/gpt-5')),
  );

  const version = { 'anthropic-version': '2023-06-01' };
  const page = await list('?limit=2', version);
  expect(page).toMatchObject({ has_more: true, last_id: page.data[1]?.id });
  const next = await list(`?limit=2&after_id=${encodeURIComponent(String(page.last_id))}`, version);
  expect(next.has_more).toBe(false);
  expect([...idsOf(page), ...idsOf(next)].sort()).toEqual(['ordered', 'pool', 'sim/echo', 'west/large']);
  expect(idsOf(await list('?limit=1000&all=true', version))).toContain('openai/gpt-5');
});

test('aliases are listed with the models', async () => {
  const list = (await (await daemon.fetch('/v1/models')).json()) as {
    data: { id: string; service: { description: string; providers: { provider: string }[] } }[];
  };
  const pool = list.data.find(({ id }) => id === 'pool');
  expect(pool?.service.description).toBe('Alias of east/large, west/large');
  expect(pool?.service.providers.map(({ provider }) => provider)).toEqual(['east', 'west']);
  const shown = await (await daemon.fetch('/v1/models/one')).json();
  expect(shown).toMatchObject({ id: 'one', service: { description: 'Alias of east/small' } });
});
