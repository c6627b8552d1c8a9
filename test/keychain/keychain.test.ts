import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openKeychain } from '../../src/keychain/index.ts';
import { started } from '../../src/keychain/protocol.ts';

/** In place of the process that asks the keychain. */
class FakeChild extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new EventEmitter();

  kill(): void {
    this.emit('close', null, 'SIGKILL');
  }

  write(text: string): void {
    this.stdout.emit('data', Buffer.from(text));
  }
}

let child: FakeChild;
/** Where a person can type a password. */
const timeoutMs = 60_000;
const keychain = () => openKeychain({ timeoutMs, start: (() => child) as never });

beforeEach(() => {
  child = new FakeChild();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => void vi.useRealTimers());

test('a person has all the time to unlock the keychain, however long the process took to start', async () => {
  const value = keychain().get('login:a');
  vi.advanceTimersByTime(29_000);
  child.write(started);
  vi.advanceTimersByTime(timeoutMs - 1);
  child.write('{"ok":true,"value":"secret"}');
  child.emit('close', 0, null);
  expect(await value).toBe('secret');
});

test.each([
  ['does not start', '', 30_000],
  ['waits for a person who is away', started, timeoutMs],
])('a process that %s is killed', async (_what, written, limitMs) => {
  const failed = expect(keychain().get('login:a')).rejects.toMatchObject({
    fault: 'timed-out',
  });
  const kill = vi.spyOn(child, 'kill');
  if (written !== '') child.write(written);
  vi.advanceTimersByTime(limitMs - 1);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await failed;
});
