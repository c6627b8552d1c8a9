import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readHidden } from '../../../src/cli/terminal/read-hidden.ts';

/** A terminal that remembers what is written to it, and whether it shows what is typed. */
function terminal() {
  const stream = new PassThrough();
  const log: unknown[] = [];
  const setRawMode = (isRaw: boolean) => log.push({ isRaw });
  return {
    log,
    stream,
    tty: Object.assign(stream, { isRaw: false, setRawMode }) as unknown as ReadStream,
    output: { write: (text: string | Uint8Array) => log.push(text) },
  };
}

const prompt = 'Key: ';

test.each<[string, string[], string | undefined]>([
  ['a line', ['secret\r'], 'secret'],
  ['keys one by one, with a line feed', [...'sec', '\n'], 'sec'],
  ['Backspace and Delete', ['sex\u007fcrex\bt\r'], 'secret'],
  ['Ctrl-U, and what writes nothing', ['wrong\u0015se\u001bcret\u0004\r'], 'secret'],
  ['more lines than one', ['secret\rmore\r'], 'secret'],
  ['Ctrl-D alone', ['\u0004'], undefined],
  [
    'arrows, other keys with a sequence, and the marks around a paste',
    ['s\u001b[Ae\u001b[1;5C\u001bOPc\u001b[200~ret\u001b[201~\r'],
    'secret',
  ],
  ['sequences in pieces', ['sec\u001b', '[3', '~ret\u001bO', 'Q\r'], 'secret'],
  ['Escape before Enter', ['secret\u001b', '\r'], 'secret'],
  ['characters beyond ASCII', ['pä漢\u007f😀\r'], 'pä😀'],
])('reads %s', async (_what, typed, line) => {
  const { stream, tty, output, log } = terminal();
  const reading = readHidden(tty, output, { prompt });
  for (const text of typed) stream.write(text);
  expect(await reading).toBe(line);
  expect(log).toEqual([{ isRaw: true }, prompt, '\n', { isRaw: false }]);
});

test('ends on its signal and at the end of the input', async () => {
  const over = new AbortController();
  const first = terminal();
  const reading = readHidden(first.tty, first.output, { prompt, signal: over.signal });
  over.abort();
  expect(await reading).toBeUndefined();
  const { stream, tty, output } = terminal();
  const other = readHidden(tty, output, { prompt });
  stream.end('half');
  expect(await other).toBeUndefined();
});

test('what follows a line is there for the next', async () => {
  const { stream, tty, output } = terminal();
  stream.write('secret\r\nsecret\rmore');
  expect(await readHidden(tty, output, { prompt })).toBe('secret');
  expect(await readHidden(tty, output, { prompt })).toBe('secret');
});

test.each(['SIGHUP', 'SIGQUIT'] as const)(
  'shows nothing after a %s that the program handles',
  async (signal) => {
    const handled = vi.fn();
    process.on(signal, handled);
    onTestFinished(() => void process.off(signal, handled));
    const { stream, tty, output, log } = terminal();
    const reading = readHidden(tty, output, { prompt });
    process.emit(signal, signal);
    expect(handled).toHaveBeenCalled();
    expect(log).toEqual([{ isRaw: true }, prompt]);
    stream.write('secret\r');
    expect(await reading).toBe('secret');
  },
);

test('leaves the terminal to the program when it ends while the job stops', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(() => kill.mockRestore());
  const { stream, tty, output, log } = terminal();
  const reading = readHidden(tty, output, { prompt });
  stream.write('\u001a\r');
  expect(await reading).toBe('');
  expect(kill).toHaveBeenCalledWith(0, 'SIGTSTP');
  await vi.runAllTimersAsync();
  expect(log).toEqual([{ isRaw: true }, prompt, '\n', { isRaw: false }]);
});
