import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import {
  type Answer,
  expectValidAnswer,
  type ReportedError,
  type Sent,
  sender,
} from '../support/answer-checks.ts';
import { endpoints } from '../support/endpoints.ts';
import { hostileNames, nested } from '../support/hostile.ts';
import { richChats, richResponses } from '../support/rich-bodies.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;
let sending: ReturnType<typeof sender>;

beforeAll(async () => {
  daemon = await startDaemon();
  sending = sender(daemon);
});

afterAll(async () => {
  sending.close();
  await daemon.stop();
});

const endpointNamed = (id: string) => endpoints.find((endpoint) => endpoint.id === id) as Endpoint;

/** One call and its error, after the checks that apply to every answer. */
async function tell(id: string, sent: Sent): Promise<{ answer: Answer; error: ReportedError | undefined }> {
  const answer = await sending.ask(sent);
  return { answer, error: expectValidAnswer(endpointNamed(id), answer) };
}

const routes = [
  {
    id: 'createResponse',
    path: '/v1/responses',
    bodyWith: (more: object) => ({ model: 'sim/echo', input: 'Hello.', ...more }),
    good: richResponses,
  },
  {
    id: 'createChatCompletion',
    path: '/v1/chat/completions',
    bodyWith: (more: object) => ({
      model: 'sim/echo',
      messages: [{ role: 'user', content: 'Hello.' }],
      ...more,
    }),
    good: richChats,
  },
];
const mebibyte = 1024 * 1024;

describe.each(routes)('$path', ({ id, path, bodyWith, good }) => {
  const post = (body: unknown) => tell(id, { path, body: JSON.stringify(body) });
  const postText = (body: Buffer | string, headers: Record<string, string> = {}) =>
    tell(id, { path, body, headers });

  test.each(hostileNames)('finds no model named %j', async (model) => {
    const { error } = await post(bodyWith({ model }));
    const isName = model !== '' && model.length <= 200;
    expect([error?.code, error?.param]).toEqual([isName ? 'model_not_found' : 'invalid_request', 'model']);
    if (isName) {
      const { error: fallback } = await post(bodyWith({ service: { fallbacks: [model] } }));
      expect([fallback?.code, fallback?.param]).toEqual(['model_not_found', 'service.fallbacks[0]']);
      const { error: only } = await post(bodyWith({ service: { route: { only: [model] } } }));
      expect(only?.code).toBe('no_route');
    }
  });

  test('accepts tools and metadata named like JavaScript members', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'then', 'hasOwnProperty']) {
      const metadata = JSON.parse(`{"${name}":"x"}`);
      const parameters = { type: 'object', properties: JSON.parse(`{"${name}":{"type":"string"}}`) };
      const tool = { type: 'function', name, parameters, function: { name, parameters } };
      const { answer } = await post(bodyWith({ model: 'sim/assistant', tools: [tool], metadata }));
      expect(answer.status).toBe(200);
      if (id !== 'createResponse') continue;
      const response = JSON.parse(answer.text);
      expect(JSON.stringify(response.metadata)).toBe(JSON.stringify(metadata));
      const kept = await tell('getResponse', { method: 'GET', path: `/v1/responses/${response.id}` });
      expect(JSON.stringify(JSON.parse(kept.answer.text).metadata)).toBe(JSON.stringify(metadata));
      expect(JSON.parse(kept.answer.text)).toEqual(response);
    }
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test.each([
    ['"temperature":1e309', 'temperature'],
    ['"temperature":-1e309', 'temperature'],
    ['"temperature":"1"', 'temperature'],
    ['"temperature":"NaN"', 'temperature'],
    ['"temperature":true', 'temperature'],
    ['"temperature":[1]', 'temperature'],
    ['"top_p":1.0000001', 'top_p'],
    ['"top_logprobs":1.5', 'top_logprobs'],
    ['"stream":"true"', 'stream'],
    ['"stream":1', 'stream'],
    ['"model":"sim/echo","model":7', 'model'],
    ['"service":{"pay":"theirs"}', 'service.pay'],
    ['"service":{"max_price":{"input":"1e3"}}', 'service.max_price.input'],
    ['"service":{"max_price":{"input":-1}}', 'service.max_price.input'],
    ['"service":{"max_price":{"__proto__":"1"}}', 'service.max_price.__proto__'],
    ['"service":{"route":{"order":["a",7]}}', 'service.route.order[1]'],
    ['"service":{"fallbacks":["a","b","c","d","e","f","g","h","i"]}', 'service.fallbacks'],
    ['"service":{"events":"no"}', 'service.events'],
    ['"service":{"max_prize":{"input":"1"}}', 'service.max_prize'],
    ['"service":{"route":{"exclude":["openai"]}}', 'service.route.exclude'],
  ])('rejects %s', async (member, param) => {
    const { error } = await postText(JSON.stringify(bodyWith({})).replace(/\}$/, `,${member}}`));
    expect([error?.code, error?.param]).toEqual(['invalid_request', param]);
  });

  test.each(['9007199254740992', '1e308', '123456789012345678901234567890', '1'])(
    'accepts %s as the output token limit',
    async (count) => {
      const name = id === 'createResponse' ? 'max_output_tokens' : 'max_completion_tokens';
      const { answer } = await postText(JSON.stringify(bodyWith({})).replace(/\}$/, `,"${name}":${count}}`));
      expect(answer.status).toBe(200);
    },
  );

  test.each<[string, Buffer | string, string]>([
    ['nothing', '', 'invalid_request'],
    ['a space', ' ', 'invalid_json'],
    ['null', 'null', 'invalid_request'],
    ['a list', '[]', 'invalid_request'],
    ['a text', '"sim/echo"', 'invalid_request'],
    ['a number', '1e309', 'invalid_request'],
    ['an open brace', '{', 'invalid_json'],
    ['half of it', JSON.stringify(good[0]).slice(0, 200), 'invalid_json'],
    ['it twice', `${JSON.stringify(good[0])}${JSON.stringify(good[0])}`, 'invalid_json'],
    ['NaN', '{"model":NaN}', 'invalid_json'],
    ['a comment', '{/* */}', 'invalid_json'],
    ['a last comma', '{"model":"a",}', 'invalid_json'],
    ['a NUL', '{"model":"a"}\0', 'invalid_json'],
    ['a bare line feed in a text', '{"model":"a\n"}', 'invalid_json'],
    ['a form', 'model=sim%2Fecho', 'invalid_json'],
    ['bytes that are not UTF-8', Buffer.from('{"model":"\xff\xfe"}', 'latin1'), 'invalid_json'],
    [
      'half a surrogate as bytes',
      Buffer.from('227b22ed a0 80227d'.replaceAll(' ', ''), 'hex'),
      'invalid_json',
    ],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'invalid_json'],
    ['UTF-16', Buffer.from(JSON.stringify(good[0]), 'utf16le'), 'invalid_json'],
    ['100,000 open brackets', '['.repeat(100_000), 'invalid_json'],
    ['100,000 open braces', '{"a":'.repeat(100_000), 'invalid_json'],
    ['65 levels', JSON.stringify(bodyWith({ metadata: nested(64, 'object') })), 'invalid_json'],
  ])('rejects %s', async (_what, body, code) => {
    const { error } = await postText(body);
    expect(error?.code).toBe(code);
  });

  test('accepts 64 levels of nesting, a byte order mark and lone surrogates', async () => {
    expect((await post(bodyWith({ extra: { a: nested(62, 'array') } }))).answer.status).toBe(200);
    expect((await postText(`\ufeff${JSON.stringify(bodyWith({}))}`)).answer.status).toBe(200);
    const half = JSON.stringify(bodyWith({})).replace('Hello.', 'a\\ud800b');
    const { answer } = await postText(half);
    expect(answer.status).toBe(200);
    expect(Buffer.from(answer.text).toString()).toBe(answer.text);
  });

  test.each([
    ['text/plain', 415],
    ['application/json\ta', 415],
    ['application/json;charset=latin1', 415],
    ['application/jsonp', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=a', 415],
    ['*/*', 415],
    ['', 415],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
  ])('answers a body of type %j with %i', async (type, status) => {
    const { answer } = await postText(JSON.stringify(bodyWith({})), { 'content-type': type });
    expect(answer.status).toBe(status);
  });

  test.each([
    ['gzip', 400],
    ['br', 400],
    ['deflate', 400],
    ['gzip, gzip', 415],
    ['chunked', 415],
  ])('rejects a plain body that claims the encoding %s', async (encoding, status) => {
    const { answer } = await postText(JSON.stringify(bodyWith({})), { 'content-encoding': encoding });
    expect(answer.status).toBe(status);
  });

  // The model is unknown, so that only parsing and validation are measured.
  const bodyOf = (bytes: number) => {
    const empty = JSON.stringify(bodyWith({ model: 'nobody/has-it', instructions: '' }));
    return empty.replace('"instructions":""', `"instructions":"${'a'.repeat(bytes - empty.length)}"`);
  };
  test.each([
    [-1, 'with its length', 404],
    [0, 'with its length', 404],
    [1, 'with its length', 413],
    [-1, 'in chunks', 404],
    [0, 'in chunks', 404],
    [1, 'in chunks', 413],
  ])('answers a body of 32 MiB and %i bytes, sent %s, with %i', async (more, how, status) => {
    const body = bodyOf(32 * mebibyte + more);
    expect(body.length).toBe(32 * mebibyte + more);
    const { answer } = await tell(id, { path, body, chunked: how === 'in chunks' });
    expect(answer.status).toBe(status);
  });

  // With so many characters, quadratic time would exceed the limit of the test.
  test('is not slowed down by a long text in any field', async () => {
    const texts = ['-', 'a', '(', '1', '/', '.', ' ', '{"', '\\', 'a-', '\ud83d\ude00'];
    let count = 0;
    for (const body of good) {
      for (const [at, place] of placesOfText(body).entries()) {
        const text = texts[at % texts.length] ?? '';
        const { answer } = await post(withText(body, place, text.repeat(500_000 / text.length)));
        expect(answer.status).toBeLessThan(500);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(20);
  });
});

type Path = readonly (string | number)[];

/** Where the texts of a body are. */
function placesOfText(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placesOfText(inner, [...path, key]));
}

function withText(body: unknown, path: Path, text: string): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  let holder = copy;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  holder[String(path.at(-1))] = text;
  return copy;
}

test.each(['a\ud800b', ' ', 'a\nb'])('a thread cannot be titled %j', async (title) => {
  const body = JSON.stringify({ title });
  const { error } = await tell('createThread', { path: '/v1/threads', body });
  expect([error?.code, error?.param]).toEqual(['invalid_request', 'title']);
});

test.each([
  [{ metadata: { a: 1 } }, 'metadata.a'],
  [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
  [{ metadata: { ['k'.repeat(65)]: 'x' } }, `metadata.${'k'.repeat(64)}…`],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [at, ''])) }, 'metadata'],
  [{ input: undefined }, 'input'],
  [{ input: undefined, previous_response_id: null, prompt: null }, 'input'],
])('a response cannot be created with %j', async (more, param) => {
  const body = JSON.stringify({ model: 'sim/echo', input: 'Hello.', ...more });
  const { error } = await tell('createResponse', { path: '/v1/responses', body });
  expect([error?.code, error?.param]).toEqual(['invalid_request', param]);
});

test.each([
  [{ role: 'user' }, 400],
  [{ role: 'user', content: null }, 400],
  [{ role: 'system', content: null }, 400],
  [{ role: 'assistant', content: null }, 200],
])('the chat message %j is answered with %i', async (message, status) => {
  const messages = [message, { role: 'user', content: 'Hello.' }];
  const body = JSON.stringify({ model: 'sim/echo', messages });
  const { answer, error } = await tell('createChatCompletion', { path: '/v1/chat/completions', body });
  expect([answer.status, error?.param ?? null]).toEqual([
    status,
    status === 200 ? null : 'messages[0].content',
  ]);
});

describe('credit', () => {
  test.each([{}, { sats: 1000, usd: '1' }])('cannot be bought with %j', async (bought) => {
    const body = JSON.stringify(bought);
    const { error } = await tell('buyCredit', { path: '/v1/credit/purchases', body });
    expect([error?.param, error?.message]).toEqual(['sats', 'Exactly one of `sats` and `usd` is required.']);
  });
});

test.each(['ftp://x', 'attic.example', 'https://user:secret@attic.example', 'https://attic.example/?a=b'])(
  'a peer cannot have the address %s',
  async (url) => {
    const path = '/v1/workspaces/me/peers/attic';
    const { error } = await tell('putPeer', { method: 'PUT', path, body: JSON.stringify({ url }) });
    expect([error?.code, error?.param]).toEqual(['invalid_request', 'url']);
  },
);

describe('keys', () => {
  const issue = (body: unknown) =>
    tell('issueKey', { path: '/v1/workspaces/me/keys', body: JSON.stringify(body) });

  test.each<[unknown, string | null]>([
    [{ name: '' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'key ' }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: '😀'.repeat(65) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'a\ud800b' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: null }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: 'keys' }, 'scopes'],
    [{ scopes: ['keys', 'everything'] }, 'scopes[1]'],
    [{ scopes: ['__proto__'] }, 'scopes[0]'],
    [{ scopes: Array.from({ length: 33 }, () => 'keys') }, 'scopes'],
    [{ role: 'owner' }, 'role'],
    [JSON.parse('{"__proto__":{"scopes":["keys"]}}'), '__proto__'],
    [{ constructor: 1 }, 'constructor'],
    [{ 'a b': 1 }, '["a b"]'],
    [{ [`x${'y'.repeat(300)}`]: 1 }, `x${'y'.repeat(63)}…`],
    [[], null],
    [null, null],
  ])('cannot be issued as %j', async (body, param) => {
    const { error } = await issue(body);
    expect([error?.code, error?.param]).toEqual(['invalid_request', param]);
  });

  test.each(['x'.repeat(64), '😀'.repeat(64), "' OR 1=1--", '__proto__', 'مفتاح'])(
    'can be named %j, and are listed by that name',
    async (name) => {
      const { answer } = await issue({ name });
      const { key } = JSON.parse(answer.text);
      const list = await tell('listKeys', { method: 'GET', path: '/v1/workspaces/me/keys?limit=1' });
      expect(JSON.parse(list.answer.text).data[0]).toMatchObject({ id: key.id, name });
    },
  );

  test.each([
    [-1, 200],
    [0, 200],
    [1, 413],
  ])('are issued for a body of 1 MiB and %i bytes with %i', async (more, status) => {
    for (const chunked of [false, true]) {
      const body = '{"name":"padded"}'.padEnd(mebibyte + more, ' ');
      const { answer } = await tell('issueKey', { path: '/v1/workspaces/me/keys', body, chunked });
      expect(answer.status).toBe(status);
    }
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=9007199254740993', 'limit'],
    ['limit=1e309', 'limit'],
    ['limit=NaN', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['limit[]=1&limit=x', 'limit'],
    [`after=${'k'.repeat(65)}`, 'after'],
    ['after=nonsense', 'after'],
    ['after=%27%20OR%201%3D1--', 'after'],
    // The cursor of another list.
    [`after=req_${'0'.repeat(26)}`, 'after'],
  ])('rejects a list with ?%s', async (query, param) => {
    const { error } = await tell('listKeys', { method: 'GET', path: `/v1/workspaces/me/keys?${query}` });
    expect([error?.code, error?.param]).toEqual(['invalid_request', param]);
  });

  test.each(['limit=1', 'limit=100', `after=key_${'0'.repeat(26)}`])('are listed with ?%s', async (query) => {
    const { answer } = await tell('listKeys', { method: 'GET', path: `/v1/workspaces/me/keys?${query}` });
    expect(answer.status).toBe(200);
  });
});

describe('events', () => {
  test.each(['request.finished', 'requests.*', 'request.failed,nonsense.x', 'request.failed,', '*'])(
    'are not filtered by the unknown type %s',
    async (type) => {
      const path = `/v1/events?type=${encodeURIComponent(type)}`;
      const { error } = await tell('streamEvents', { method: 'GET', path });
      expect([error?.code, error?.param]).toEqual(['invalid_request', 'type']);
      expect(error?.message).toContain('`limit.reached`');
    },
  );
});

describe('usage', () => {
  test.each([
    ['since=yesterday', 'since'],
    ['since=2026-13-01', 'since'],
    ['since=2026-02-30', 'since'],
    ['since=2026-11-21T25:00Z', 'since'],
    ['until=1e309', 'until'],
    ['since=2026-11-21&until=2026-11-20', 'since'],
    ['since=0000-01-01', 'since'],
    ['since=9999-12-31', 'since'],
    ['until=0000-01-01', 'until'],
    ['group_by=Day', 'group_by'],
    ['group_by=__proto__', 'group_by'],
    [`model=${'m'.repeat(257)}`, 'model'],
    [`key=${'k'.repeat(65)}`, 'key'],
  ])('is not summed up with ?%s', async (query, param) => {
    const { error } = await tell('listUsage', { method: 'GET', path: `/v1/usage?${query}` });
    expect([error?.code, error?.param]).toEqual(['invalid_request', param]);
  });

  test.each(['model=%27%20OR%201%3D1--', 'key=__proto__', 'since=2020-01-01', 'until=9999-12-31'])(
    'is summed up with ?%s',
    async (query) => {
      const { answer } = await tell('listUsage', { method: 'GET', path: `/v1/usage?${query}` });
      expect(answer.status).toBe(200);
    },
  );

  test.each(['req_', '__proto__', '%00', '..%2f..', "'%20OR%201%3D1--", 'r'.repeat(65)])(
    'of %s is not found',
    async (request) => {
      const { error } = await tell('getUsage', { method: 'GET', path: `/v1/usage/${request}` });
      expect(error?.code).toBe('not_found');
    },
  );
});

describe('an unknown query parameter', () => {
  test.each([
    ['listUsage', '/v1/usage?before=2026-11-21', 'before'],
    ['listWhispers', '/api/whispers?after=12', 'after'],
    ['streamEvents', '/v1/events?types=nonsense', 'types'],
    ['listTraces', '/v1/traces?limit=5&state=failed', 'state'],
  ])('of %s is refused', async (id, path, param) => {
    const { answer, error } = await tell(id, { method: 'GET', path });
    if (path.startsWith('/api/'))
      expect([answer.status, JSON.parse(answer.text).errors]).toEqual([
        422,
        { [param]: [expect.any(String)] },
      ]);
    else expect([error?.code, error?.param]).toEqual(['invalid_request', param]);
    expect(answer.text).toContain('is not a query parameter of this endpoint, which has');
  });

  test.each([
    ['listModels', '/v1/models?client_version=0.63.0'],
    ['listStoredResponses', '/v1/responses/resp_none?include[]=reasoning.encrypted_content'],
  ])('of %s is ignored, as clients of OpenAI send some', async (_id, path) => {
    expect((await sending.ask({ method: 'GET', path })).status).not.toBe(400);
  });
});

describe('a cursor that names nothing', () => {
  test.each([
    ['listUsage', '/v1/usage?after=nonsense'],
    ['listModels', '/v1/models?after=nonsense'],
  ])('of %s is refused', async (id, path) => {
    const { error } = await tell(id, { method: 'GET', path });
    expect([error?.code, error?.param]).toEqual(['invalid_request', 'after']);
  });
});

const reads = endpoints.filter(({ method, stream }) => method === 'GET' && !stream?.always);

test.each(reads.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s rejects a body it does not expect',
  async (id, endpoint) => {
    const path = endpoint.path.replace('{workspace}', 'me').replace(/\{\w+(\.\.\.)?\}/, 'x');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const filled = await tell(id, { method: 'GET', path, body: 'a=b', headers: form });
    expect(filled.answer.status).toBe(415);
    const large = await tell(id, { method: 'GET', path, body: Buffer.alloc(mebibyte + 1, ' ') });
    expect(large.answer.status).toBe(413);
  },
);

describe('wrong content lengths', () => {
  /** All that comes back on one connection for these bytes, up to its end. */
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1', () => socket.end(text));
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(received));
    });
  const head = (headers: string) =>
    `POST /v1/responses HTTP/1.1\r\nhost: ${new URL(daemon.url).host}\r\nauthorization: Bearer ${daemon.key}\r\n` +
    `content-type: application/json\r\n${headers}\r\n\r\n`;
  const body = '{"model":"nobody/has-it","input":"Hello."}';

  test.each<[string, string, string, RegExp]>([
    ['too short', 'content-length: 20', body, /^HTTP\/1\.1 400 /],
    ['too long', 'content-length: 4000', body, /^(HTTP\/1\.1 400 |$)/],
    ['negative', 'content-length: -1', body, /^HTTP\/1\.1 400 /],
    ['not a number', 'content-length: 0x10', body, /^HTTP\/1\.1 400 /],
    ['beyond any number', `content-length: ${'9'.repeat(30)}`, body, /^HTTP\/1\.1 4\d\d /],
    ['sent twice', 'content-length: 42\r\ncontent-length: 43', body, /^HTTP\/1\.1 400 /],
    [
      'sent together with chunks',
      'content-length: 42\r\ntransfer-encoding: chunked',
      `0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    [
      'of a chunk that is none',
      'transfer-encoding: chunked',
      `zz\r\n${body}\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
  ])('%s', async (_what, headers, after, expected) => {
    const received = await exchange(head(headers) + after);
    expect(received).toMatch(expected);
    // Nothing that was smuggled behind is ever served.
    expect(received.match(/HTTP\/1\.1 200/g)).toBeNull();
  });
});

test('the daemon is healthy afterwards', async () => {
  expect((await tell('health', { method: 'GET', path: '/healthz' })).answer.status).toBe(200);
  const { answer } = await tell('createResponse', {
    path: '/v1/responses',
    body: JSON.stringify({ model: 'sim/echo', input: 'Hello.' }),
  });
  expect(answer.status).toBe(200);
  expect(daemon.printed().stderr).not.toMatch(/"level":[56]0/);
});
