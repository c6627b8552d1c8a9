import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, test } from 'vitest';
import { readHidden } from '../../../src/cli/terminal/read-hidden.ts';

/** A terminal that remembers whether it shows what is typed. */
function terminal() {
  const stream = new PassThrough();
  const raw: boolean[] = [];
  const setRawMode = (mode: boolean) => raw.push(mode);
  return { raw, stream, tty: Object.assign(stream, { isRaw: false, setRawMode }) as unknown as ReadStream };
}

test.each<[string, string[], string | undefined]>([
  ['a line', ['secret\r'], 'secret'],
  ['keys one by one, with a line feed', [...'sec', '\n'], 'sec'],
  ['Backspace and Delete', ['sex\u007fcrex\bt\r'], 'secret'],
  ['Ctrl-U, and what writes nothing', ['wrong\u0015se\u001bcret\u0004\r'], 'secret'],
  ['more lines than one', ['secret\rmore\r'], 'secret'],
  ['Ctrl-D alone', ['\u0004'], undefined],
  ['characters beyond ASCII', ['pä漢\u007f😀\r'], 'pä😀'],
])('reads %s', async (_what, typed, line) => {
  const { stream, tty, raw } = terminal();
  const reading = readHidden(tty);
  for (const text of typed) stream.write(text);
  expect(await reading).toBe(line);
  expect(raw).toEqual([true, false]);
});

test('ends on its signal and at the end of the input', async () => {
  const over = new AbortController();
  const reading = readHidden(terminal().tty, over.signal);
  over.abort();
  expect(await reading).toBeUndefined();
  const { stream, tty } = terminal();
  const other = readHidden(tty);
  stream.end('half');
  expect(await other).toBeUndefined();
});
