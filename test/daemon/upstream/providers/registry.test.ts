import { describe, expect, test } from 'vitest';
import type { OutgoingRequest } from '../../../../src/daemon/base/world.ts';
import { checkKey } from '../../../../src/daemon/upstream/check-key.ts';
import { listModels } from '../../../../src/daemon/upstream/list-models.ts';
import { providerApis } from '../../../../src/daemon/upstream/providers/registry.ts';
import { knownProviders } from '../../../../src/shared/known-providers.ts';

/** Answers every request with the same JSON, and keeps the requests. */
function answering(json: unknown, status = 200) {
  const asked: OutgoingRequest[] = [];
  const bytes = Buffer.from(JSON.stringify(json));
  const send = async (request: OutgoingRequest) => {
    asked.push(request);
    const body = {
      async *[Symbol.asyncIterator]() {
        yield bytes;
      },
      bytes: async () => bytes,
      cancel() {},
    };
    return { status, headers: {}, body };
  };
  return { asked, send };
}

describe.each(knownProviders)('%s', (name) => {
  const api = providerApis[name];
  const { baseUrl } = api;

  test('is only called at its own URL, with the key in a header', async () => {
    expect(baseUrl).toMatch(/^https:.*[^/]$/);
    const { asked, send } = answering({ data: [], models: [] });
    const { failure } = api.adapter({ name, baseUrl }, api.wires?.[0]);
    await listModels(send, { api, name, baseUrl, key: 'secret-key' });
    const question = { name, url: api.keyCheckUrl(baseUrl), headers: api.keyHeaders, failure };
    expect(await checkKey(send, question, 'secret-key')).toMatchObject({ result: 'good' });
    expect(asked).toHaveLength(2);
    for (const { url, headers } of asked) {
      expect(url.startsWith(`${baseUrl}/`)).toBe(true);
      expect(url).not.toContain('secret-key');
      expect(Object.values(headers).join(' ')).toContain('secret-key');
    }
  });

  test('without a list of models is a failure', async () => {
    const { send } = answering({ surprise: true });
    const listing = listModels(send, { api, name, baseUrl, key: undefined });
    await expect(listing).rejects.toMatchObject({
      kind: 'broken',
      message: `${name} returned no list of models`,
    });
  });
});

// maximhq/bifrost#6711
test('a list of models may be all there is', async () => {
  const { send } = answering([{ id: 'acme/big', object: 'model' }]);
  const place = { api: providerApis.openai, name: 'up', baseUrl: 'http://up.test/v1', key: undefined };
  expect(await listModels(send, place)).toMatchObject([{ name: 'acme/big' }]);
});

test('Anthropic’s base URL may contain the version', async () => {
  for (const baseUrl of ['http://proxy.test', 'http://proxy.test/v1']) {
    const { asked, send } = answering({ data: [{ id: 'claude-opus-9' }] });
    const api = providerApis.anthropic;
    const found = await listModels(send, { api, name: 'anthropic', baseUrl, key: undefined });
    expect(found).toMatchObject([{ name: 'claude-opus-9' }]);
    expect(asked.map(({ url }) => url)).toEqual(['http://proxy.test/v1/models?limit=1000']);
    expect(api.keyCheckUrl(baseUrl)).toBe('http://proxy.test/v1/models?limit=1');
  }
});

test('Vercel’s list contains language and embedding models with prices', async () => {
  const { send } = answering({
    data: [
      {
        id: 'acme/big',
        type: 'language',
        name: 'Big',
        context_window: 9_000,
        pricing: { input: '0.000001', output: '0.000002', input_cache_read: '0.0000001' },
      },
      { id: 'acme/odd', pricing: { input: 3, output: '0.1' }, context_window: -1, name: 7 },
      { id: 'acme/embed', type: 'embedding', pricing: { input: '0.00000002' } },
      { id: 'acme/painter', type: 'image' },
      { name: 'nameless' },
    ],
  });
  const place = { api: providerApis.vercel, name: 'vercel', baseUrl: 'http://v.test', key: undefined };
  const usdPerToken = { input: '0.000001', output: '0.000002', cachedInput: '0.0000001' };
  expect(await listModels(send, place)).toEqual([
    { name: 'acme/big', kind: 'chat', title: 'Big', contextLength: 9_000, usdPerToken },
    { name: 'acme/odd', kind: 'chat' },
    { name: 'acme/embed', kind: 'embedding', usdPerToken: { input: '0.00000002', output: '0' } },
  ]);
});
