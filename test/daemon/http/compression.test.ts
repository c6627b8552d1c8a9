import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement, RelayReply } from '../../../src/daemon/base/handler.ts';
import { withSecret } from '../../../src/daemon/base/replies.ts';
import { acceptedEncoding, Compression } from '../../../src/daemon/http/compression.ts';
import { aListeningServer, anEndpoint, aServer, Wire } from './http-fixture.ts';

const decoders = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync } as const;

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['*', undefined],
  ['deflate', undefined],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, zstd', 'zstd'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0', undefined],
  ['gzip;q=0.1, identity', undefined],
  ['gzip;q=nonsense', undefined],
])('of %j the encoding is %s', (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding);
});

const long = `${JSON.stringify({ text: 'A long answer. '.repeat(4_000) })}`;

async function ask(
  reply: () => unknown,
  {
    accepts,
    parts = {},
    ...more
  }: { accepts?: string; parts?: object; method?: string; origin?: string } = {},
) {
  const { method = 'GET', origin } = more;
  const handler = implement(
    anEndpoint({ method: 'GET', result: Type.Unknown(), ...parts }),
    async () => reply() as never,
  );
  const { server } = await aServer([handler], origin === undefined ? {} : { allowedOrigins: [origin] });
  return await server.inject({
    method: method as 'GET',
    url: '/v1/things',
    headers: { ...(accepts !== undefined && { 'accept-encoding': accepts }), ...(origin && { origin }) },
  });
}

describe('a long answer', () => {
  test.each(Object.keys(decoders) as (keyof typeof decoders)[])('is compressed with %s', async (encoding) => {
    for (const reply of [() => new RelayReply({}, long), () => JSON.parse(long)]) {
      const answer = await ask(reply, { accepts: encoding });
      expect(answer.headers).toMatchObject({
        'content-encoding': encoding,
        vary: 'accept-encoding',
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(answer.rawPayload.length),
      });
      expect(answer.rawPayload.length).toBeLessThan(long.length / 10);
      expect(decoders[encoding](answer.rawPayload).toString()).toBe(long);
    }
  });

  test('is sent as it is to a client that asks for nothing, and says that it varies', async () => {
    const answer = await ask(() => new RelayReply({}, long));
    expect(answer.headers).toMatchObject({ vary: 'accept-encoding', 'content-length': String(long.length) });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body).toBe(long);
  });

  test('varies by origin, too, for pages of other origins', async () => {
    const origin = 'https://app.example';
    const answer = await ask(() => new RelayReply({}, long), { accepts: 'gzip', origin });
    expect(answer.headers.vary).toBe('accept-encoding, origin');
  });

  test('of bytes is compressed, too', async () => {
    const answer = await ask(() => new RelayReply({}, Buffer.from(long)), { accepts: 'gzip' });
    expect(gunzipSync(answer.rawPayload).toString()).toBe(long);
  });

  test('has the same headers for HEAD, and no body', async () => {
    const [whole, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => ask(() => new RelayReply({}, long), { accepts: 'gzip', method })),
    );
    expect(head?.rawPayload.length).toBe(0);
    for (const name of ['content-encoding', 'content-length', 'vary', 'content-type'])
      expect(head?.headers[name]).toBe(whole?.headers[name]);
  });

  test.each([
    ['is short', () => new RelayReply({}, '{"a":1}')],
    ['has a secret', () => withSecret({ secret: long } as never)],
    ['is an image', () => new RelayReply({ 'content-type': 'image/png' }, Buffer.alloc(50_000))],
    ['is encoded already', () => new RelayReply({ 'content-encoding': 'gzip' }, Buffer.alloc(50_000))],
  ])('is not compressed if it %s', async (_why, reply) => {
    const answer = await ask(reply, { accepts: 'gzip' });
    expect(answer.headers.vary).toBeUndefined();
    expect(answer.headers['content-encoding']).toBe(
      reply().headers['content-encoding'] === 'gzip' ? 'gzip' : undefined,
    );
  });
});

test('a page that is the same for everyone is compressed once', async () => {
  const compression = new Compression();
  const page = 'page '.repeat(10_000);
  const [one, other] = await Promise.all([
    compression.compress(page, { encoding: 'gzip', page: 'docs' }),
    compression.compress(page.slice(), { encoding: 'gzip', page: 'docs' }),
  ]);
  expect(other).toBe(one);
  const changed = await compression.compress(`${page}!`, { encoding: 'gzip', page: 'docs' });
  expect(gunzipSync(changed as Buffer).toString()).toBe(`${page}!`);
});

test('a crowd gets some bodies as they are, rather than that it keeps all threads busy', async () => {
  const compression = new Compression();
  const bodies = await Promise.all(
    Array.from({ length: 40 }, (_, at) => compression.compress(`${at} ${long}`, { encoding: 'br' })),
  );
  expect(bodies.filter((body) => body !== undefined).length).toBeLessThan(10);
});

test('a client that leaves during the compression harms nothing', async () => {
  const handler = implement(anEndpoint({ method: 'GET' }), async () => new RelayReply({}, long));
  const { port } = await aListeningServer([handler]);
  const lines = `GET /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\nAccept-Encoding: br\r\n\r\n`;
  const wires = Array.from({ length: 10 }, () => new Wire(port).send(lines));
  for (const wire of wires) wire.socket.destroy();
  const again = new Wire(port).send(lines.replace('br', 'gzip'));
  expect(await again.until(/\r\n\r\n/)).toContain('content-encoding: gzip');
});
