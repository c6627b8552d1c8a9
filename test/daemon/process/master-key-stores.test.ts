import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  type MasterStore,
  MasterStoreFailure,
  parseMasterKey,
} from '../../../src/daemon/features/vault/index.ts';
import { masterStores, passphraseFrom } from '../../../src/daemon/process/master-key-stores.ts';

import { eventually } from '../../support/eventually.ts';

let folder: string;
let path: string;
const kid = '0123456789abcdef';
const now = { isInteractive: false };
const unused = () => false;
const bytes = (key: Uint8Array | undefined) => Buffer.from(key ?? []).toString('hex');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-masters-'));
  path = join(folder, 'master');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const stores = () => masterStores({ file: path, usesKeychain: true, plainFolder: folder, env: {} });

async function failureIn(work: Promise<unknown>): Promise<string> {
  const failure = await work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(MasterStoreFailure);
  return (failure as Error).message;
}

describe('a user-provided key file', () => {
  const write = (text: string, mode = 0o600) => writeFile(path, text, { mode });
  const file = () => stores().file as MasterStore;

  test.each([
    ['hex', (key: Buffer) => key.toString('hex')],
    ['base64, as openssl prints it', (key: Buffer) => `${key.toString('base64')}\n`],
    ['base64url, as an export prints it', (key: Buffer) => key.toString('base64url')],
  ])('contains a key in %s', async (_, written) => {
    const key = randomBytes(32);
    await write(written(key));
    expect((await file().find(kid, now)).map(bytes)).toEqual([bytes(key)]);
    expect(bytes(await file().add(kid, randomBytes(32), unused))).toBe(bytes(key));
  });

  test('may list older keys after the current one', async () => {
    const [newer, older] = [randomBytes(32), randomBytes(32)];
    const isUsed = (key: Uint8Array) => bytes(key) === bytes(older);
    await write(`${older.toString('hex')}\n`);
    expect(await failureIn(file().add(kid, randomBytes(32), isUsed))).toContain('has no new key');
    await write(`${newer.toString('hex')}\n${older.toString('hex')}\n`);
    expect((await file().find(kid, now)).map(bytes)).toEqual([bytes(newer), bytes(older)]);
    expect(bytes(await file().add(kid, randomBytes(32), isUsed))).toBe(bytes(newer));
  });

  test('is never written or removed', async () => {
    await write(randomBytes(32).toString('hex'));
    const before = await readFile(path, 'utf8');
    await file().add(kid, randomBytes(32), unused);
    await file().delete(kid);
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  test.each([
    ['is not there', async () => {}, 'does not exist'],
    ['can be read by others', () => write('a'.repeat(64), 0o644).then(() => chmod(path, 0o644)), 'chmod 600'],
    ['is empty', () => write('\n'), '32-byte key'],
    ['is too short', () => write('abcdef'), '32-byte key'],
    ['has a line that is no key', () => write(`${'a'.repeat(64)}\npassword\n`), '32-byte key'],
  ])('that %s is rejected with a remedy', async (_, make, remedy) => {
    await make();
    const message = await failureIn(file().find(kid, now));
    expect(message).toContain(remedy);
    expect(message).not.toContain('password');
    expect(await failureIn(file().add(kid, randomBytes(32), unused))).toContain(remedy);
  });
});

describe('a plain file', () => {
  const plain = () => stores().plain as MasterStore;

  test('contains a key for its owner alone, and is never overwritten', async () => {
    const key = randomBytes(32);
    expect(await plain().find(kid, now)).toEqual([]);
    await plain().add(kid, key, unused);
    const [name = ''] = await readdir(folder);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect(await failureIn(plain().add(kid, randomBytes(32), unused))).toContain('EEXIST');
    expect((await plain().find(kid, now)).map(bytes)).toEqual([bytes(key)]);
    await plain().delete(kid);
    expect(await readdir(folder)).toEqual([]);
  });

  test('is not used if others can read it', async () => {
    await plain().add(kid, randomBytes(32), unused);
    const [name = ''] = await readdir(folder);
    await chmod(join(folder, name), 0o644);
    expect(await failureIn(plain().find(kid, now))).toContain('chmod 600');
  });
});

describe('a file with a passphrase', () => {
  test('is read without its line end, and again after it was corrected', async () => {
    const read = passphraseFrom(path);
    expect(await failureIn(read())).toContain(`${path} does not exist`);
    await writeFile(path, 'short\n', { mode: 0o600 });
    expect(await failureIn(read())).toContain('8 characters');
    await writeFile(path, 'correct horse battery\n');
    expect(await read()).toBe('correct horse battery');
    await writeFile(path, 'another passphrase');
    expect(await read()).toBe('another passphrase');
  });

  test('is not used if others can read it', async () => {
    await writeFile(path, 'correct horse battery');
    await chmod(path, 0o644);
    expect(await failureIn(passphraseFrom(path)())).toContain('chmod 600');
  });

  test('may be a pipe that can be read once', async () => {
    const pipe = spawn('/bin/sh', ['-c', 'mkfifo -m 600 "$0" && echo "correct horse battery" > "$0"', path]);
    const written = once(pipe, 'close');
    await eventually('a pipe', async () => (await stat(path).catch(() => undefined))?.isFIFO() === true);
    const read = passphraseFrom(path);
    expect(await read()).toBe('correct horse battery');
    await written;
    await rm(path);
    expect(await read()).toBe('correct horse battery');
  });
});

test('stores that are not configured are absent', () => {
  const none = masterStores({ file: undefined, usesKeychain: false, plainFolder: undefined, env: {} });
  expect(Object.values(none).filter((store) => store !== undefined)).toEqual([]);
});

test.each(['', 'a'.repeat(63), 'a'.repeat(65), 'é'.repeat(43), `${'A'.repeat(42)} `, `${'A'.repeat(43)}==`])(
  '%j is not a valid master key',
  (text) => {
    expect(parseMasterKey(text)).toBeUndefined();
  },
);
