import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SseReader, SseTooLong, sseEvent, sseEventCharsMax } from '../../../src/shared/http/sse.ts';
import { linearGrowth, stepGrowth } from '../../support/count-steps.ts';
import { works } from './sse.works.ts';

const growthOf = stepGrowth('sse');
const encoder = new TextEncoder();

function readWhole(text: string) {
  const reader = new SseReader();
  return [...reader.push(encoder.encode(text)), ...reader.end()];
}

const answer =
  'event: greeting\ndata: {"text":"Grüße 👋"}\n\n: a comment\ndata: a\ndata: b\nid: 7\n\ndata: [DONE]\n\n';

describe('reading server-sent events', () => {
  test.each([
    ['LF', answer],
    ['CRLF', answer.replaceAll('\n', '\r\n')],
    ['CR', answer.replaceAll('\n', '\r')],
    ['a byte order mark', `\uFEFF${answer}`],
  ])('reads lines that end in %s', (_name, text) => {
    expect(readWhole(text)).toEqual([
      { event: 'greeting', data: '{"text":"Grüße 👋"}', id: undefined },
      { event: 'message', data: 'a\nb', id: '7' },
      { event: 'message', data: '[DONE]', id: '7' },
    ]);
  });

  test('gives the same events wherever the bytes are cut', () => {
    const bytes = encoder.encode(answer.replaceAll('\n', '\r\n'));
    const whole = readWhole(answer);
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 })), (cuts) => {
        const reader = new SseReader();
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const events = places.slice(1).flatMap((end, i) => reader.push(bytes.subarray(places[i], end)));
        expect([...events, ...reader.end()]).toEqual(whole);
      }),
    );
  });

  test('yields an event immediately, also when it ends with CR', () => {
    const reader = new SseReader();
    const data = (text: string) => reader.push(encoder.encode(text)).map((event) => event.data);
    expect(data('data: a\r\r')).toEqual(['a']);
    expect(data('data: b\r\n\r')).toEqual(['b']);
    // The second half of the line end before it.
    expect(data('\ndata: c\r')).toEqual([]);
    expect(data('\n\r\n')).toEqual(['c']);
  });

  test.each(Object.keys(works))('reads %s, in linear time', async (name) => {
    const { growth, result } = await growthOf(name);
    expect(growth).toBeLessThan(linearGrowth);
    expect(result).toBe(1);
  });

  test('needs no space after the colon and ignores unknown fields', () => {
    expect(readWhole('data:x\nretry: 5\nnonsense\n\n')).toEqual([
      { event: 'message', data: 'x', id: undefined },
    ]);
  });

  test('keeps a final event without its blank line', () => {
    expect(readWhole('data: last')).toEqual([{ event: 'message', data: 'last', id: undefined }]);
  });

  test('rejects an endless line', () => {
    const reader = new SseReader();
    const part = new Uint8Array(sseEventCharsMax / 4).fill(120);
    expect(() => {
      for (let i = 0; i < 5; i += 1) reader.push(part);
    }).toThrow(SseTooLong);
  });

  test.each(['data:\n', 'data: x\n', 'data\n'])('gives up on an event of countless lines: %j', (line) => {
    const reader = new SseReader();
    const lines = 65_536;
    const part = encoder.encode(line.repeat(lines));
    const partsMax = sseEventCharsMax / 64 / lines;
    for (let i = 0; i < partsMax; i += 1) expect(reader.push(part)).toEqual([]);
    expect(() => reader.push(part)).toThrow(SseTooLong);
  });
});

test('text with any line endings stays within its event', () => {
  const nasty = 'one\r\ntwo\rthree\nfour\u2028five';
  const [event, ...more] = readWhole(sseEvent(JSON.stringify({ nasty }), 'say'));
  expect(more).toEqual([]);
  expect(JSON.parse(event?.data ?? '')).toEqual({ nasty });
});

describe('events of JSON that are not as the standard has them', () => {
  const dataOf = (text: string) => readWhole(text).map(({ data }) => data);

  // rexxars/eventsource-parser#31, copilot-extensions/user-feedback#28
  test('need no blank line between them', () => {
    expect(dataOf('data: {"a":1}\ndata: {"b":{}}\nevent: c\ndata: {"c":1}\ndata: [DONE]\n')).toEqual([
      '{"a":1}',
      '{"b":{}}',
      '{"c":1}',
      '[DONE]',
    ]);
  });

  // SamSaffron/term-llm#454
  test('may have several lines', () => {
    const json = JSON.stringify({ list: [{ a: 1 }, { b: {} }], end: '}' }, null, 1);
    expect(dataOf(`${json.replaceAll(/^/gm, 'data: ')}\n\n`)).toEqual([json]);
  });

  // vercel/ai#5217, sgomez/ollama-ai-provider#7
  test('may have no field', () => {
    expect(dataOf('{"a":1}\n{"b":2}\r\n')).toEqual(['{"a":1}', '{"b":2}']);
    expect(dataOf('data: {"a":1}\n\n{\n "error": {\n }\n}\n')).toEqual([
      '{"a":1}',
      '{\n "error": {\n }\n}\n',
    ]);
  });

  test('without a field have an end', () => {
    const reader = new SseReader();
    const part = encoder.encode('[\n'.repeat(65_536));
    const partsMax = sseEventCharsMax / 64 / 65_536;
    for (let i = 0; i < partsMax; i += 1) expect(reader.push(part)).toEqual([]);
    expect(() => reader.push(part)).toThrow(SseTooLong);
  });
});
