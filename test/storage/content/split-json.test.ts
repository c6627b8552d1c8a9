import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitJson } from '../../../src/daemon/storage/content/split-json.ts';

const textsOf = (json: string) => splitJson(Buffer.from(json)).map((part) => Buffer.from(part).toString());

test('the parts are the bytes again, whatever they are', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ maxLength: 3_000 })), (text) => {
      expect(Buffer.concat(splitJson(Buffer.from(text))).toString()).toBe(Buffer.from(text).toString());
    }),
  );
});

test('a conversation that goes on has the parts of the earlier one', () => {
  const message = (at: number) => ({ role: 'user', content: `${at} {"[,]}\\" ${'x'.repeat(600)}` });
  const body = (count: number) =>
    JSON.stringify({
      model: 'a/b',
      instructions: 'i'.repeat(900),
      tools: [{ name: 'a', parameters: { text: 't'.repeat(700) } }],
      messages: Array.from({ length: count }, (_, at) => message(at)),
      stream: true,
    });
  const [before, after] = [textsOf(body(5)), textsOf(body(7))];
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  expect(after.length).toBe(before.length + 2);
});
