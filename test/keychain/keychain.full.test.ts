import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { KeychainFailure, openKeychain } from '../../src/keychain/index.ts';
import { faultOf } from '../../src/keychain/keychain-failure.ts';
import { noSecretService, type SecretService, startSecretService } from '../support/secret-service.ts';

async function faultIn(work: Promise<unknown>): Promise<string> {
  const failure = await work.then(
    (value) => expect.fail(`it did not fail: ${value}`),
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(KeychainFailure);
  return (failure as KeychainFailure).fault;
}

test.skipIf(process.platform === 'win32')(
  'too many open files are a failure, not the end of the process',
  () => {
    const script = `
    import { openSync } from 'node:fs';
    import { openKeychain } from '${pathToFileURL('src/keychain/index.ts')}';
    try { for (;;) openSync('/dev/null'); } catch {}
    await openKeychain({ timeoutMs: 60_000 }).get('a').catch((error) => process._rawDebug(error.name, error.fault));
  `;
    const limited = 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"';
    const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, script], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'KeychainFailure failed\n' });
  },
);

describe.skipIf(noSecretService !== undefined)('a real Secret Service', () => {
  let session: SecretService;
  const open = (env: Record<string, string> = {}, timeoutMs = 5_000) =>
    openKeychain({ timeoutMs, env: { ...session.env, ...env } });

  beforeAll(async () => {
    session = await startSecretService();
  });
  afterAll(async () => {
    await session.close();
  });

  describe('unlocked', () => {
    beforeAll(() => session.start('unlocked'));

    test('returns, replaces and deletes a value', async () => {
      const keychain = open();
      expect(await keychain.get('login:a')).toBeUndefined();
      await keychain.set('login:a', 'first');
      await keychain.set('login:b', 'other');
      await keychain.set('login:a', 'second');
      expect(await keychain.get('login:a')).toBe('second');
      expect(await keychain.delete('login:a')).toBe(true);
      expect(await keychain.delete('login:a')).toBe(false);
      expect(await keychain.get('login:a')).toBeUndefined();
      expect(await keychain.get('login:b')).toBe('other');
    });

    test('values that a keychain would truncate or change are rejected', async () => {
      for (const bad of ['', 'with space', 'zero\0byte', 'é', 'x'.repeat(1201)]) {
        await expect(open().set('login:bad', bad)).rejects.toBeInstanceOf(TypeError);
      }
      expect(await open().get('login:bad')).toBeUndefined();
    });
  });

  describe('locked', () => {
    beforeAll(async () => {
      await session.start('unlocked');
      await open().set('master:one', 'kept');
      await session.start('locked');
    });

    test.each(['get', 'delete'] as const)('%s reports it instead of "no such item"', async (action) => {
      expect(await faultIn(open()[action]('master:one'))).toBe('locked');
    });

    test('set reports it', async () => {
      expect(await faultIn(open().set('master:two', 'new'))).toBe('locked');
    });

    test('values are available again after unlocking', async () => {
      await session.start('unlocked');
      expect(await open().get('master:one')).toBe('kept');
      expect(await open().get('master:two')).toBeUndefined();
    });
  });

  test('a service that waits for a person is abandoned after the timeout', async () => {
    await session.start('unlocked');
    session.hang();
    try {
      expect(await faultIn(open({}, 700).get('master:one'))).toBe('timed-out');
      expect(await faultIn(open({}, 700).set('master:one', 'x'))).toBe('timed-out');
    } finally {
      session.goOn();
    }
  });

  test('a missing service and a missing session are distinguished', async () => {
    await session.stop();
    expect(await faultIn(open().get('master:one'))).toBe('no-service');
    const nowhere = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };
    expect(await faultIn(open(nowhere).get('master:one'))).toBe('no-session');
    const without = { PATH: session.env.PATH };
    expect(await faultIn(openKeychain({ timeoutMs: 60_000, env: without }).get('master:one'))).toBe(
      'no-session',
    );
  });
});

describe('the child process', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-keychain-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  const running = async (script: string, timeoutMs = 5_000) => {
    const file = join(folder, 'child.mjs');
    await writeFile(file, script);
    return openKeychain({ timeoutMs, script: pathToFileURL(file) });
  };

  test('is killed if it does not stop', async () => {
    const keychain = await running(
      `process.on('SIGTERM', () => {}); process.stdout.write('\\n', () => { for (;;) ; });`,
      300,
    );
    expect(await faultIn(keychain.get('a'))).toBe('timed-out');
  });

  test('may take longer to start than the keychain has to answer', async () => {
    const keychain = await running(
      `setTimeout(() => process.stdout.write('\\n{"ok":true,"value":"b"}', () => process.exit()), 600);`,
      300,
    );
    expect(await keychain.get('a')).toBe('b');
  });

  test('that crashes is reported as a failure', async () => {
    const keychain = await running(`process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1000);`);
    const failure = await keychain.get('a').catch((error: unknown) => error);
    expect(failure).toMatchObject({ fault: 'failed', detail: expect.stringContaining('SIGSEGV') });
  });

  test('exposes a secret neither in arguments nor variables nor errors', async () => {
    const keychain = await running(
      `process.stdin.resume(); process.stdin.on('end', () => process.stdout.write(JSON.stringify({
        ok: false, fault: 'failed', detail: JSON.stringify([process.argv, process.env]) })));`,
    );
    const failure = await keychain.set('a', 'canary-secret').catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(KeychainFailure);
    const all = JSON.stringify([failure, (failure as Error).message, (failure as Error).stack]);
    expect(all).toContain('child.mjs');
    expect(all).not.toContain('canary-secret');
  });
});

test.each([
  ['Cannot autolaunch D-Bus without X11 $DISPLAY', 'no-session'],
  ['Could not connect: No such file or directory', 'no-session'],
  ['The name org.freedesktop.secrets was not provided by any .service files', 'no-service'],
  ['Object does not exist at path “/org/freedesktop/secrets/collection/login”', 'no-keyring'],
  ['Cannot create an item in a locked collection', 'locked'],
  ['User interaction is not allowed.', 'locked'],
  ['Failed to load keytar native addon, checked []', 'no-library'],
  ['libsecret-1.so.0: cannot open shared object file', 'no-library'],
  ['User canceled the operation.', 'denied'],
  ['something new', 'failed'],
])('%s means %s', (message, fault) => {
  expect(faultOf(message)).toBe(fault);
});
