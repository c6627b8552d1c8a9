import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { knownProviders, providerFacts } from '../../src/shared/known-providers.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Upstreams that have the names of known providers, as a name may become known after it was configured. */
let fake: FakeOpenAi;
let daemon: RunningDaemon;

const keyFor = (name: string) => `sk-own-key-of-${name}`;
const variableOf = (name: string) => `OWN_${name.toUpperCase()}_KEY`;

beforeAll(async () => {
  fake = await startFakeOpenAi({ keys: knownProviders.map(keyFor) });
  const upstreams = knownProviders.map(
    (name) =>
      `{name: ${name}, base_url: "${fake.baseUrl}", key_env: ${variableOf(name)}, models: [fake], prices: {input: "1", output: "2"}}`,
  );
  const theirs = knownProviders.map((name) => [providerFacts[name].keyVariables[0], `sk-theirs-${name}`]);
  const ours = knownProviders.map((name) => [variableOf(name), keyFor(name)]);
  daemon = await startDaemon({
    config: `vault: {keychain: false, insecure_plain_file: true}\nupstreams: [${upstreams.join(', ')}]`,
    env: Object.fromEntries([...theirs, ...ours]),
  });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

describe.each(knownProviders)('an upstream named %s', (name) => {
  test('is called with its own key, and no other one has the name', async () => {
    fake.forget();
    const answer = await daemon.fetch('/v1/chat/completions', {
      json: { model: `${name}/fake`, messages: [{ role: 'user', content: 'Hello.' }] },
    });
    expect([answer.status, answer.headers.get('x-service-upstream')]).toEqual([200, name]);
    expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${keyFor(name)}`]);
    const { data } = (await (await daemon.fetch('/v1/models')).json()) as { data: { id: string }[] };
    expect(data.flatMap(({ id }) => (id.startsWith(`${name}/`) ? [id] : []))).toEqual([`${name}/fake`]);
  });

  test('never gets a workspace’s key for the provider', async () => {
    const set = await fetch(`${daemon.url}/v1/workspaces/me/provider-keys/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: `${providerFacts[name].keyPrefixes[0]}0123456789abcdefghijklmnop` }),
    });
    const { error } = (await set.json()) as { error: { param: string } };
    expect([set.status, error.param]).toEqual([400, 'provider']);
    const answer = await daemon.fetch('/v1/chat/completions', {
      json: {
        model: `${name}/fake`,
        messages: [{ role: 'user', content: 'Hello.' }],
        service: { pay: 'mine' },
      },
    });
    expect(answer.status).toBe(503);
  });
});
