import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { argumentsIn, StreamedArguments } from '../../../../src/daemon/upstream/providers/call-arguments.ts';

const args = { city: 'Oslo', at: { lat: 59.9, near: ['{}', '}{'] } };
const json = JSON.stringify(args);

function cutAt(text: string, cuts: readonly number[]): string[] {
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, at) => text.slice(ends[at - 1] ?? 0, end));
}

/** What is passed on, piece by piece and at the end; undefined if they cannot be read. */
function streamed(pieces: readonly string[]): string | undefined {
  const streaming = new StreamedArguments();
  const passed = pieces.map((piece) => streaming.add(piece)).join('');
  const rest = streaming.end();
  expect(streaming.sent).toBe(rest === undefined ? streaming.sent : passed + rest);
  return rest === undefined ? undefined : passed + rest;
}

const anyCuts = fc.array(fc.nat(), { maxLength: 12 });
const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 4 });

describe('arguments in pieces', () => {
  test('are the same, wherever they are cut, and whatever texts they contain', () => {
    fc.assert(
      fc.property(anyObject, anyCuts, (object, cuts) => {
        const text = JSON.stringify(object);
        expect(streamed(cutAt(text, cuts))).toBe(text);
      }),
    );
  });

  test('are passed on as they come', () => {
    const streaming = new StreamedArguments();
    const pieces = cutAt(json, [2, 9, 17]);
    expect(pieces.map((piece) => streaming.add(piece))).toEqual(pieces);
  });

  test('are the same if they are the text of a text, wherever it is cut', () => {
    fc.assert(
      fc.property(anyCuts, (cuts) => {
        expect(streamed(cutAt(JSON.stringify(json), cuts))).toBe(json);
      }),
    );
  });

  test('are sent once if they come twice, wherever the second time is cut', () => {
    fc.assert(
      fc.property(anyCuts, (cuts) => {
        expect(streamed([json, ...cutAt(json, cuts)])).toBe(json);
      }),
    );
  });

  test.each([
    ['an empty object first', ['{}', json.slice(0, 5), json.slice(5)], json],
    ['an empty object with spaces first', [' { } ', json], json],
    ['those so far with each piece', [json.slice(0, 10), json.slice(0, 20), json], json],
    ['twice in one piece', [json + json], json],
    ['twice in one piece, after nothing', ['', `${json}\n${json}`], json],
    ['formatted the second time', [json, JSON.stringify(args, null, 2)], json],
    ['nothing', [], '{}'],
    ['blanks', ['', ' \n'], '{}'],
    ['null', ['nu', 'll'], '{}'],
    ['an empty list', ['[', ']'], '{}'],
    ['an empty object', ['{', '}'], '{}'],
    ['a brace too many', [`${json}}`], json],
    ['a brace too many, in its own piece', [json, '}', '\n'], json],
    ['another object after the first', [json, '{"city":"Rome"}'], undefined],
    ['a number', ['1'], undefined],
    ['a list', ['[1]'], undefined],
    ['a text', ['"Oslo"'], undefined],
    ['no JSON', ['{"city": Oslo}'], undefined],
    ['less than all', [json.slice(0, -1)], undefined],
  ])('%s', (_case, pieces, expected) => {
    expect(streamed(pieces)).toBe(expected);
  });

  test.each([
    [json.slice(0, 9), true],
    [json.slice(0, -1), true],
    ['{"city": tru', true],
    ['{"city": Oslo', false],
    [`${json}x`, false],
    ['1', false],
  ])('that may have been cut: %s (%s)', (text, isStart) => {
    const streaming = new StreamedArguments();
    streaming.add(text);
    expect(streaming.end()).toBeUndefined();
    expect(streaming.mayBeCut).toBe(isStart);
  });

  test('are completed by what the whole has more', () => {
    const streaming = new StreamedArguments();
    streaming.add(json.slice(0, 12));
    expect(streaming.complete(json)).toBe(json.slice(12));
    expect(streaming.complete(json)).toBe('');
    expect(streaming.complete('{"city":"Rome"}')).toBeUndefined();
  });
});

test.each([
  ['an object', args, json],
  ['text', json, json],
  ['text of text', JSON.stringify(json), json],
  ['text of text of text', JSON.stringify(JSON.stringify(json)), json],
  ['twice in one text', json + json, json],
  ['three times', json.repeat(3), json],
  ['nothing', undefined, '{}'],
  ['null', null, '{}'],
  ['null as text', 'null', '{}'],
  ['blank', ' ', '{}'],
  ['an empty list', [], '{}'],
  ['a list', [1], undefined],
  ['a number', 1, undefined],
  ['a text of no object', '"Oslo"', undefined],
  ['two objects', `${json}{"a":1}`, undefined],
  ['no JSON', '{"city": Oslo}', undefined],
  ['too deep', '['.repeat(10_000), undefined],
])('whole arguments: %s', (_case, value, expected) => {
  expect(argumentsIn(value)).toBe(expected);
});
