import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { describe, expect, test, vi } from 'vitest';
import { implement } from '../../../src/daemon/base/handler.ts';
import { parseJson } from '../../../src/daemon/http/json-body.ts';
import { haveTooManyContainers } from '../../../src/shared/json/json-text.ts';
import { collectGarbage, usedBytes } from '../../support/collect-garbage.ts';
import { anEndpoint, aServer, keyWith } from './http-fixture.ts';

const depthMax = 64;
const parse = (text: string) => parseJson(Buffer.from(text), depthMax);
/** A list of `count` equal elements. */
const listOf = (element: string, count: number) => `[${`${element},`.repeat(count - 1)}${element}]`;
const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('a body with very many values is refused before it is parsed:', () => {
  test.each([
    ['objects', listOf('{}', 100_000), 'The body has more than 100000 objects and arrays.'],
    ['lists', listOf('[]', 100_000), 'The body has more than 100000 objects and arrays.'],
    ['nested lists', listOf(lists(60), 1_667), 'The body has more than 100000 objects and arrays.'],
    ['numbers', listOf('0', 1_000_001), 'The body has more than 1000000 values.'],
    ['members', `{"a":${listOf('{"b":0}', 100_000)}}`, 'The body has more than 100000 objects and arrays.'],
    [
      'an unterminated text',
      `${listOf('{}', 200_000)}"`,
      'The body has more than 100000 objects and arrays.',
    ],
  ])('%s', (_, text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'invalid_json', message }));
  });
});

describe('a large body is accepted:', () => {
  const part = '{"type":"input_text","text":"Hello \\"world\\", [how] {are} you?"}';
  const message = `{"type":"message","role":"user","content":[${part}]}`;
  test.each([
    ['a conversation of 30,000 messages', `{"input":${listOf(message, 30_000)}}`],
    ['2,048 texts', `{"input":${listOf(`"${'x'.repeat(2000)}"`, 2_048)}}`],
    ['2,048 lists of tokens', `{"input":${listOf(listOf('12345', 400), 2_048)}}`],
    ['one list of tokens', `{"input":${listOf('12345', 999_999)}}`],
    ['an image of 30 MB', `{"image_url":"data:image/png;base64,${'iVBOR'.repeat(6_000_000)}"}`],
    ['a text of a million brackets', JSON.stringify({ input: '{[,:]}'.repeat(1_000_000) })],
  ])('%s', (_, text) => {
    expect(JSON.stringify(parse(text))).toBe(text);
  });
});

describe('parsing a body takes at most 40 times its bytes:', () => {
  const numbered = (element: (n: string) => string, count: number) =>
    `[${Array.from({ length: count }, (_, n) => element(n.toString(36))).join(',')}]`;
  test.each([
    ['empty objects', listOf('{}', 99_999)],
    ['empty lists', listOf('[]', 99_999)],
    ['nested lists', listOf(lists(60), 1_600)],
    ['nested objects', listOf(`${'{"":'.repeat(60)}0${'}'.repeat(60)}`, 1_600)],
    ['lists of one', listOf('[0]', 99_999)],
    ['members with different names', numbered((n) => `{"${n}":0}`, 20_000)],
    ['two such members', numbered((n) => `{"${n}":0,"a":0}`, 20_000)],
    ['twenty such members', numbered((n) => `{${listOf(`"${n}_":0`, 20).slice(1, -1)}}`, 5_000)],
    ['numbered members', listOf('{"9":0}', 99_999)],
    ['numbers', listOf('0', 200_000)],
    ['fractions', listOf('0.5', 100_000)],
    ['empty texts', listOf('""', 100_000)],
    ['different texts', numbered((n) => `"${n}"`, 100_000)],
    ['objects, with constants', `{"const":12345678901234567,"of":${listOf('{}', 99_997)}}`],
    ['long numbers, with constants', `{"enum":${listOf('12345678901234567', 100_000)}}`],
  ])('%s', (_, text) => {
    const bytes = Buffer.from(text);
    // What is compiled and cached once is not counted.
    parseJson(bytes, depthMax);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const value = parseJson(bytes, depthMax);
    const taken = process.memoryUsage().heapUsed - before;
    expect(value).toBeTypeOf('object');
    expect(taken / bytes.length).toBeLessThan(40);
  });
});

test('JSON within texts counts, but not what looks like it', () => {
  const half = listOf('{}', 60_000);
  expect(haveTooManyContainers([half])).toBe(false);
  expect(haveTooManyContainers([half, half])).toBe(true);
  expect(haveTooManyContainers([`{"unterminated":"`, half, half])).toBe(true);
  expect(haveTooManyContainers([JSON.stringify({ code: half }), JSON.stringify({ code: half })])).toBe(false);
});

test('small bodies that become large ones neither fill the memory nor hold the process', async () => {
  const handler = implement(
    anEndpoint({ body: Type.Unknown(), bodyLimit: 32 * 1024 * 1024 }),
    async () => ({}),
  );
  const caller = keyWith('responses');
  const { server } = await aServer([handler], { authenticate: () => caller });
  const bomb = gzipSync(`{"a":${listOf('{}', 10_000_000)}}`);
  expect(bomb.length).toBeLessThan(40_000);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const parsed = vi.spyOn(JSON, 'parse');
  const before = usedBytes();
  const grown: number[] = [];
  let answered = 0;
  const send = async () => {
    const answer = await server.inject({ method: 'POST', url: '/v1/things', payload: bomb, headers });
    answered += 1;
    // While others are being read.
    if (answered % 2 === 1) grown.push(usedBytes() - before);
    return answer.statusCode;
  };
  const statuses = await Promise.all(Array.from({ length: 6 }, send));
  expect(new Set(statuses)).toEqual(new Set([400]));
  // Whole, they have 180 MB; parsed, they would take 6 GB and minutes.
  expect(Math.max(...grown)).toBeLessThan(100e6);
  expect(usedBytes() - before).toBeLessThan(100e6);
  expect(Math.max(0, ...parsed.mock.calls.map(([text]) => text.length))).toBeLessThan(1e6);
  parsed.mockRestore();
});
