import { expect, test } from 'vitest';
import type { IncomingAnswer, World } from '../../../src/daemon/base/world.ts';
import { checkProvider } from '../../../src/daemon/upstream/check-provider.ts';
import { networkFailure, networkFailureOf } from '../../../src/daemon/upstream/network-failures.ts';
import { openAi } from '../../../src/daemon/upstream/providers/openai.ts';

const key = 'sk-never-shown-0123456789';
const baseUrl = 'https://llm.example/v1';

async function check(send: World['send'], more: { keyVariable?: string | undefined; url?: string } = {}) {
  const verdict = await checkProvider(
    { send, elapsed: () => 0 },
    {
      name: 'acme',
      url: openAi.keyCheckUrl(baseUrl),
      headers: openAi.keyHeaders,
      failure: openAi.adapter({ name: 'acme', baseUrl }, 'chat').failure,
      key,
      keyVariable: 'ACME_KEY',
      addressSetting: 'the base_url of acme',
      ...more,
    },
  );
  expect(JSON.stringify(verdict)).not.toContain(key);
  return verdict;
}

function answer(status: number, body: string, headers: Record<string, string> = {}): World['send'] {
  const bytes = Buffer.from(body);
  return async () =>
    ({
      status,
      headers,
      body: {
        bytes: async () => bytes,
        cancel: () => {},
        async *[Symbol.asyncIterator]() {
          yield bytes;
        },
      },
    }) as unknown as IncomingAnswer;
}

const refusal = (message: string) => JSON.stringify({ error: { message, type: 'x' } });

test.each([
  [200, '{"data":[]}', {}, null, null],
  [401, refusal(`Incorrect API key provided: ${key}`), {}, 'key', 'ACME_KEY'],
  [403, refusal('Forbidden'), {}, 'key', 'ACME_KEY'],
  [402, refusal('Insufficient credits'), {}, 'credit', 'gateway providers retry acme'],
  [429, refusal('Rate limit reached'), {}, null, null],
  [404, refusal('Not found'), {}, 'address', 'base_url'],
  [404, '<html>', { 'content-type': 'text/html' }, 'address', 'base_url'],
  [200, '<html>', { 'content-type': 'text/html; charset=utf-8' }, 'address', 'base_url'],
  // lmstudio-ai/lmstudio-bug-tracker#618
  [200, '{"error":"Unexpected endpoint or method. (GET /models)"}', {}, 'address', 'base_url'],
  [301, '', { location: `https://new.example/v1?key=${key}` }, 'redirect', 'https://new.example'],
  [308, '', {}, 'redirect', 'base_url'],
  [500, 'oops', {}, 'failing', 'later'],
  [503, '<html>', { 'content-type': 'text/html' }, 'failing', 'later'],
])('status %d, %s: %s', async (status, body, headers: Record<string, string>, problem, remedy) => {
  const verdict = await check(answer(status, body, headers));
  expect(verdict.problem).toBe(problem);
  if (remedy === null) expect(verdict.remedy).toBeNull();
  else expect(verdict.remedy).toContain(remedy);
});

const failing = (code: string, message = '') =>
  networkFailureOf(Object.assign(new Error(message), { code }), 'llm.example');

test.each([
  [
    'an untrusted certificate',
    failing('SELF_SIGNED_CERT_IN_CHAIN'),
    'certificate',
    /NODE_EXTRA_CA_CERTS.*NODE_USE_SYSTEM_CA/,
  ],
  ['no issuer', failing('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), 'certificate', /NODE_EXTRA_CA_CERTS/],
  [
    'a proxy that refuses',
    failing('UND_ERR_ABORTED', 'Proxy response (407) !== 200'),
    'proxy',
    /HTTPS_PROXY/,
  ],
  ['a proxy that is not there', failing('UND_ERR_PRX_CONN'), 'proxy', /NO_PROXY/],
  ['a name that no one has', failing('ENOTFOUND'), 'address', /base_url/],
  ['no server', failing('ECONNREFUSED'), 'unreachable', /runs/],
  ['no answer in time', networkFailure('total-timeout', 'llm.example'), 'unreachable', /reached/],
])('%s', async (_what, failure, problem, remedy) => {
  const verdict = await check(() => Promise.reject(failure));
  expect(verdict).toMatchObject({ problem, remedy: expect.stringMatching(remedy) });
  expect(verdict.message).toContain('llm.example');
});

test('a server that wants a key that no one configured', async () => {
  const verdict = await check(answer(401, refusal('No key')), { keyVariable: undefined });
  expect(verdict).toMatchObject({ problem: 'key', remedy: expect.stringContaining('key_env') });
});

/** pssah4/vault-operator#73, vijayk1989/TheStoryNexusTauriApp#17, awaescher/OllamaSharp#356 */
test.each([
  ['is there', 200, '{"data":[]}', 'Set the base_url of acme to https://llm.example/v1.'],
  [
    'wants another key',
    401,
    refusal('Incorrect API key'),
    'Set the base_url of acme to https://llm.example/v1.',
  ],
  ['is elsewhere', 404, refusal('Not found'), 'Check the base_url of acme.'],
])('an API that %s with its version', async (_where, status, body, remedy) => {
  const asked: string[] = [];
  const send: World['send'] = async (request) => {
    asked.push(request.url);
    const isVersioned = request.url.endsWith('/v1/models');
    return await answer(isVersioned ? status : 404, isVersioned ? body : refusal('Not found'))(request);
  };
  expect(await check(send, { url: 'https://llm.example/models' })).toMatchObject({
    problem: 'address',
    remedy,
  });
  expect(asked).toEqual(['https://llm.example/models', 'https://llm.example/v1/models']);
});
