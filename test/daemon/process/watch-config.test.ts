import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchConfig } from '../../../src/daemon/process/watch-config.ts';
import { temporaryHome } from '../../support/run-cli.ts';

test('a daemon that was started without a terminal reloads on SIGHUP, and goes on', async () => {
  const done: string[] = [];
  const stop = watchConfig({
    file: join(await temporaryHome(), 'config.yaml'),
    reload: async () => void done.push('reload'),
    onHangUp: () => done.push('hang up'),
    isOnTerminal: false,
  });
  onTestFinished(stop);
  process.emit('SIGHUP');
  expect(done).toEqual(['reload']);
});
