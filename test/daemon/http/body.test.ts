import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement } from '../../../src/daemon/base/handler.ts';
import { parseJson } from '../../../src/daemon/http/json-body.ts';
import { shapeFault, unbounded } from '../../../src/shared/json/json-text.ts';
import { pauseProcess } from '../../support/pause-process.ts';
import { aListeningServer, anEndpoint, aServer, echo, statusesIn, Wire } from './http-fixture.ts';

async function send(payload: string | Buffer, contentType = 'application/json', headers = {}) {
  const { server } = await aServer([echo]);
  const answer = await server.inject({
    method: 'POST',
    url: '/v1/echo',
    payload,
    headers: { 'content-type': contentType, ...headers },
  });
  return { status: answer.statusCode, json: answer.json(), text: answer.body };
}

const objectOf = (members: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, at) => [`k${at}`, at])));

describe('a body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON; charset="utf-8"',
    // ASP.NET and Java clients, and those that leave a parameter out
    'application/json; charset=utf8',
    'application/json;odata=verbose; charset=utf-8',
    'application/json;',
  ])('is accepted as %s', async (contentType) => {
    expect(await send('{"a":1}', contentType)).toMatchObject({ status: 200, json: { body: { a: 1 } } });
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-7',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json\ta',
    'application/json, text/plain',
    'application/jsonx',
    'text/plain; application/json',
    '',
  ])('is rejected as %j', async (contentType) => {
    const { status, json } = await send('{"a":1}', contentType);
    expect(status).toBe(415);
    expect(json.error).toMatchObject({ type: 'invalid_request', code: 'unsupported_media_type' });
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['GZIP', gzipSync],
    ['identity', Buffer.from],
  ])('may be compressed as %s', async (encoding, compress) => {
    const answer = await send(compress('{"a":1}'), 'application/json', { 'content-encoding': encoding });
    expect(answer).toMatchObject({ status: 200, json: { body: { a: 1 } } });
  });

  test.each(['compress', 'gzip, br'])('in the unknown encoding %s is refused by name', async (encoding) => {
    const { status, json } = await send('{}', 'application/json', { 'content-encoding': encoding });
    expect(status).toBe(415);
    expect(json.error.message).toContain(encoding);
  });

  test('that expands beyond the limit is rejected before it is whole', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    expect(bomb.length).toBeLessThan(100_000);
    const { status, json } = await send(bomb, 'application/json', { 'content-encoding': 'gzip' });
    expect([status, json.error.code]).toEqual([413, 'limit_exceeded']);
  });

  test('that is not in the encoding it names is rejected', async () => {
    const { status, json } = await send('{"a":1}', 'application/json', { 'content-encoding': 'gzip' });
    expect([status, json.error.message]).toEqual([400, 'The body is not valid gzip data.']);
  });

  test.each([
    ['broken JSON', '{"a":'],
    ['two values', '{} {}'],
    ['NaN', '{"a":NaN}'],
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['400 KB of brackets', '['.repeat(400_000)],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['an object of 10,001 members', objectOf(10_001)],
    ['such an object inside another', `{"a":[{"b":1},${objectOf(10_001)}]}`],
    ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ])('with %s is rejected', async (_what, payload) => {
    const { status, json } = await send(payload);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ type: 'invalid_request', code: 'invalid_json', param: null });
  });

  test('is never quoted in an error', async () => {
    expect((await send('{"prompt": secret-prompt}')).text).not.toContain('secret');
  });

  test('may have 64 levels, a byte order mark, and brackets in strings', async () => {
    expect((await send(`${'['.repeat(64)}${']'.repeat(64)}`)).status).toBe(200);
    expect(await send('\ufeff{"a":1}')).toMatchObject({ json: { body: { a: 1 } } });
    expect((await send(JSON.stringify({ a: '['.repeat(500), b: '\\"[[{{'.repeat(100) }))).status).toBe(200);
  });

  test('keeps the last of duplicate keys', async () => {
    expect((await send('{"a":1,"a":2}')).json).toEqual({ body: { a: 2 } });
  });

  test('cannot change prototypes', async () => {
    const text =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"then":1}';
    const { status, text: answer } = await send(text);
    expect(status).toBe(200);
    expect(answer).toBe(`{"body":${text}}`);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('is optional if the contract says so', async () => {
    const { server } = await aServer([echo]);
    const without = await server.inject({ method: 'POST', url: '/v1/echo' });
    expect(without.json()).toEqual({});
    const empty = await server.inject({
      method: 'POST',
      url: '/v1/echo',
      headers: { 'content-type': 'application/json' },
    });
    expect(empty.statusCode).toBe(200);
  });

  test('is available as received', async () => {
    const seen: unknown[] = [];
    const handler = implement(anEndpoint({ body: Type.Unknown() }), async ({ rawBody }) => {
      seen.push(Buffer.from(rawBody ?? []).toString());
      return {};
    });
    const { server } = await aServer([handler]);
    await server.inject({
      method: 'POST',
      url: '/v1/things',
      headers: { 'content-type': 'application/json' },
      payload: '{ "a" : 1 }',
    });
    expect(seen).toEqual(['{ "a" : 1 }']);
  });
});

describe('the size limit of a body', () => {
  const handler = implement(
    anEndpoint({ body: Type.String(), bodyLimit: 100 }),
    async ({ body }) => String(body).length,
  );
  const jsonOf = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
  const head = (port: number, headers: string) =>
    `POST /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

  test.each([
    [99, 200],
    [100, 200],
    [101, 413],
  ])('%i bytes of 100 with a length: %i', async (bytes, status) => {
    const { port } = await aListeningServer([handler]);
    const wire = new Wire(port).send(
      head(port, `Connection: close\r\nContent-Length: ${bytes}`) + jsonOf(bytes),
    );
    expect(statusesIn(await wire.until(/\}|\d$/))).toEqual([status]);
  });

  test.each([
    [99, 200],
    [100, 200],
    [101, 413],
  ])('%i bytes of 100 in chunks: %i', async (bytes, status) => {
    const { port } = await aListeningServer([handler]);
    const chunks = [...jsonOf(bytes)].map((character) => `1\r\n${character}\r\n`).join('');
    const wire = new Wire(port).send(head(port, 'Transfer-Encoding: chunked')).send(`${chunks}0\r\n\r\n`);
    expect(statusesIn(await wire.until(/\r\n\r\n.+/s))).toEqual([status]);
    if (status === 413) expect(wire.received).toContain('"type":"limit_exceeded","code":"limit_exceeded"');
  });

  test('is checked by the headers, before any of the body arrives', async () => {
    const { port } = await aListeningServer([handler]);
    const wire = new Wire(port).send(head(port, 'Content-Length: 99999999'));
    expect(statusesIn(await wire.until(/\}\}/))).toEqual([413]);
  });

  test('lets the sender read the error, then closes the connection', async () => {
    const { port } = await aListeningServer([handler], { limits: { lingerMs: 30 } });
    const wire = new Wire(port).send(head(port, 'Content-Length: 99999999')).send('x'.repeat(100_000));
    expect(statusesIn(await wire.all())).toEqual([413]);
  });

  test('does not take a pause of its own process for one of the sender', async () => {
    const { port } = await aListeningServer([handler], { limits: { lingerMs: 500 } });
    const wire = new Wire(port).send(head(port, 'Content-Length: 200') + jsonOf(100));
    await wire.until(/\}\}/);
    wire.send(jsonOf(100) + head(port, 'Content-Length: 10') + jsonOf(10));
    pauseProcess(600);
    expect(statusesIn(await wire.until(/\r\n\r\n8$/))).toEqual([413, 200]);
  });

  test('keeps the connection open if the rest is short', async () => {
    const { port } = await aListeningServer([handler]);
    const wire = new Wire(port).send(head(port, 'Content-Length: 101') + jsonOf(101));
    await wire.until(/\}\}/);
    wire.send(head(port, 'Content-Length: 10') + jsonOf(10));
    expect(statusesIn(await wire.until(/\r\n\r\n8$/))).toEqual([413, 200]);
  });

  test('waits for missing bytes, and does not read additional ones as a request', async () => {
    const hurried = await aListeningServer([handler], {
      limits: { requestTimeoutMs: 200, headersTimeoutMs: 200, connectionCheckMs: 20 },
    });
    const short = new Wire(hurried.port).send(head(hurried.port, 'Content-Length: 50') + jsonOf(20));
    expect(statusesIn(await short.all())).toEqual([408]);
    const { port } = await aListeningServer([handler]);
    const long = new Wire(port).send(
      `${head(port, 'Content-Length: 20') + jsonOf(20)}trailing garbage\r\n\r\n`,
    );
    expect(statusesIn(await long.all()).at(-1)).toBe(400);
  });
});

describe('a client that sends Expect: 100-continue', () => {
  const ask = async (authorization: string) => {
    const { port } = await aListeningServer([echo]);
    return new Wire(port).send(
      `POST /v1/echo HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
    );
  };

  test('is asked for the body when its headers are valid', async () => {
    const wire = await ask('Bearer login');
    await wire.until(/100 Continue/);
    expect(statusesIn(await wire.send('{}').all())).toEqual([100, 200]);
  });

  test('is rejected immediately otherwise', async () => {
    const wire = await ask('Bearer wrong');
    expect(statusesIn(await wire.until(/\}\}/))).toEqual([401]);
  });
});

describe('counting members', () => {
  test('counts per object, ignoring strings', () => {
    const limits = { ...unbounded, depthMax: 5, membersMax: 3 };
    const fault = (text: string) => shapeFault(Buffer.from(text), limits);
    expect(fault('{"a":1,"b":2,"c":"::::"}')).toBeUndefined();
    expect(fault('[{"a":1,"b":2,"c":3},{"a":1,"b":2,"c":3}]')).toBeUndefined();
    expect(fault('{"a":{"x":1,"y":2},"b":{"x":1},"c":[{"x":1}]}')).toBeUndefined();
    expect(fault('{"a":1,"b":{"x":1},"c":3,"d":4}')).toBe('membersMax');
    expect(fault('{"a":{"b":[{"w":1,"x":1,"y":1,"z":1}]}}')).toBe('membersMax');
    expect(fault(']]]]:')).toBeUndefined();
  });
});

describe('counting depth', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  test('agrees with the parsed value for any strings', () => {
    const tricky = fc.string({
      unit: fc.constantFrom('"', '\\', '[', '{', ']', '}', 'a', 'é'),
      maxLength: 120,
    });
    // V8 13.6 confuses a key with an escape with one with a backslash read before at the same position of another object:
    // after {"a":1,"\\":2} it reads {"a":1,"\n":2} as the first.
    const key = tricky.filter((text) => !text.includes('\\'));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        tricky,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.integer({ min: 0, max: 6 }), (value, depthMax) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const fault = depthOf(value) > depthMax ? 'depthMax' : undefined;
        expect(shapeFault(bytes, { ...unbounded, depthMax })).toBe(fault);
        expect(parseJson(bytes, 64)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  test('looks at few bytes of a long string', () => {
    const bytes = Buffer.from(JSON.stringify({ image: 'A'.repeat(100_000), b: [1] }));
    let looks = 0;
    const counted = new Proxy(bytes, {
      get(target, name) {
        if (typeof name === 'string' && /^\d/.test(name)) looks += 1;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const limits = { depthMax: 2, membersMax: 2, containersMax: 2, valuesMax: 3 };
    expect(shapeFault(counted, limits)).toBeUndefined();
    expect(looks).toBeLessThan(200);
  });
});
