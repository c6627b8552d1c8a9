import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  dataKey,
  prepareDataFolder,
  readSecretFile,
  writeSecretFile,
} from '../../../src/daemon/process/data-folder.ts';

async function aFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-data-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

describe.skipIf(process.platform === 'win32')('the data folder', () => {
  test('is created for its owner alone, whatever the umask, with its parents', async () => {
    const usual = process.umask(0);
    onTestFinished(() => void process.umask(usual));
    const path = join(await aFolder(), 'a', 'b');
    await prepareDataFolder(path);
    expect([modeOf(path), modeOf(join(path, '..'))]).toEqual([0o700, 0o700]);
  });

  test('becomes private if others could read it', async () => {
    const path = await aFolder();
    chmodSync(path, 0o755);
    await prepareDataFolder(path);
    expect(modeOf(path)).toBe(0o700);
  });

  test.each([0o770, 0o702, 0o1777])('is rejected if others can write to it (%o)', async (mode) => {
    const path = await aFolder();
    chmodSync(path, mode);
    await expect(prepareDataFolder(path)).rejects.toThrow(`run: chmod 700 ${path}`);
    expect(modeOf(path)).toBe(mode & 0o777);
  });

  test.runIf(isRoot)('is rejected if it belongs to another user (skipped unless run by root)', async () => {
    const path = await aFolder();
    chownSync(path, nobody, nobody);
    await expect(prepareDataFolder(path)).rejects.toThrow('belongs to another user');
  });
});

describe.skipIf(process.platform === 'win32')('a secret in the data folder', () => {
  test('is private from the start, and written atomically', async () => {
    const usual = process.umask(0);
    onTestFinished(() => void process.umask(usual));
    const path = join(await aFolder(), 'login-key');
    await writeSecretFile(path, 'gwl_1');
    await writeSecretFile(path, 'gwl_2');
    expect(modeOf(path)).toBe(0o600);
    expect(await readSecretFile(path)).toBe('gwl_2');
  });

  test.each(['', '.new'])('is not written through links (login-key%s)', async (ending) => {
    const folder = await aFolder();
    const elsewhere = join(folder, 'elsewhere');
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, join(folder, `login-key${ending}`));
    await writeSecretFile(join(folder, 'login-key'), 'gwl_1');
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(await readSecretFile(join(folder, 'login-key'))).toBe('gwl_1');
  });

  test.each([0o640, 0o604, 0o666])('is not used if others can read it (%o)', async (mode) => {
    const path = join(await aFolder(), 'login-key');
    await writeSecretFile(path, 'gwl_1');
    chmodSync(path, mode);
    await expect(readSecretFile(path)).rejects.toThrow(`run: chmod 600 ${path}`);
  });

  test('is undefined if missing, and an error if it is not a file', async () => {
    const folder = await aFolder();
    expect(await readSecretFile(join(folder, 'login-key'))).toBeUndefined();
    mkdirSync(join(folder, 'login-key'), { mode: 0o700 });
    await expect(readSecretFile(join(folder, 'login-key'))).rejects.toThrow(/ is a folder\.$/);
  });

  test('for sealing is generated once and never replaced, even if damaged', async () => {
    const path = join(await aFolder(), 'data-key');
    const made = await dataKey(path, (count) => new Uint8Array(count).fill(7));
    expect(made.isNew).toBe(true);
    const kept = await dataKey(path, () => expect.fail('it was made before'));
    expect(kept).toEqual({ key: Buffer.from(made.key), isNew: false });
    await writeSecretFile(path, 'too short');
    const again = dataKey(path, () => expect.fail('what the old one sealed would be lost'));
    await expect(again).rejects.toThrow('does not contain a 32-byte key');
  });
});
