import { PassThrough } from 'node:stream';
import { Text, useInput } from 'ink';
import { createElement } from 'react';
import { expect, test } from 'vitest';
import { render } from '../../../src/cli/tui/render.ts';

function Prompt() {
  useInput(() => {});
  return createElement(Text, null, 'Ready');
}

test('the first frame is shown once the terminal is in raw mode', async () => {
  let isRaw = false;
  const frames: [text: string, isRaw: boolean][] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode(mode: boolean) {
      isRaw = mode;
    },
    ref() {},
    unref() {},
  });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  stdout.on('data', (text) => frames.push([String(text), isRaw]));
  const instance = render(createElement(Prompt), {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    interactive: true,
    patchConsole: false,
  });
  await instance.waitUntilRenderFlush();
  expect(frames.filter(([text]) => text.includes('Ready')).map(([, wasRaw]) => wasRaw)).toEqual([true]);
  instance.unmount();
  await instance.waitUntilExit();
  expect(isRaw).toBe(false);
});
