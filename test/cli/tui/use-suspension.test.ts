import { PassThrough } from 'node:stream';
import { Text } from 'ink';
import { createElement } from 'react';
import { expect, test } from 'vitest';
import { render } from '../../../src/cli/tui/render.ts';
import { useSuspension } from '../../../src/cli/tui/use-suspension.ts';

test('the terminal is left for one thing after the other, and not twice for what a held key asks for', async () => {
  let suspend: ReturnType<typeof useSuspension> | undefined;
  const App = () => {
    suspend = useSuspension();
    return createElement(Text, null, 'Ready');
  };
  const tty = { isTTY: true, setRawMode() {}, ref() {}, unref() {}, columns: 80, rows: 24 };
  const stdin = Object.assign(new PassThrough(), tty) as unknown as NodeJS.ReadStream;
  const stdout = Object.assign(new PassThrough(), tty) as unknown as NodeJS.WriteStream;
  const instance = render(createElement(App), { stdin, stdout, interactive: true, patchConsole: false });
  const log: string[] = [];
  const back = Promise.withResolvers<void>();
  const stop = () => {
    log.push('stop');
    return back.promise;
  };
  const redraw = () => void log.push('redraw');
  for (const work of [redraw, redraw, stop, redraw, stop]) suspend?.(work);
  back.resolve();
  await expect.poll(() => log).toEqual(['redraw', 'stop']);
  suspend?.(redraw);
  await expect.poll(() => log).toEqual(['redraw', 'stop', 'redraw']);
  instance.unmount();
  await instance.waitUntilExit();
});
