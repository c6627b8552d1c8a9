import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copyStorage } from '../../../src/daemon/main.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { missingPostgres, newPostgresDatabase } from '../../support/postgres.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { startDaemon } from '../../support/start-daemon.ts';

const missing = missingPostgres();

const copy = (env: Record<string, string>, ...args: string[]) =>
  runCli(['storage', 'copy', ...args], { env, copyStorage });

describe('storage copy', () => {
  test('refuses a password among the arguments, and a source without data', async () => {
    const env = { GATEWAY_HOME: await temporaryHome() };
    const secret = await copy(env, '--to', 'postgres://me:hush@db.lan/gateway');
    expect(secret.code).not.toBe(exitCodes.done);
    expect(secret.stderr).toContain('password');
    expect(secret.stderr + secret.stdout).not.toContain('hush');
    const empty = await copy(env, '--to', join(env.GATEWAY_HOME, 'other'));
    expect(empty.code).not.toBe(exitCodes.done);
    expect(empty.stderr).toMatch(/^error: /);
  });

  test.skipIf(missing)(
    `copies what a stopped daemon has to a server and back${missing ? ` (skipped: ${missing})` : ''}`,
    async () => {
      const daemon = await startDaemon();
      const { home } = daemon;
      const env = { GATEWAY_HOME: home };
      const address = join(home, 'storage-url');
      await writeFile(address, `${await newPostgresDatabase()}\n`);
      await chmod(address, 0o600);
      const running = await copy(env, '--to', address);
      expect(running.code).not.toBe(exitCodes.done);
      expect(running.stderr).toContain('Another daemon is using the data folder');
      await daemon.stop({ keep: true });

      const there = await copy(env, '--to', address, '--json');
      expect([there.code, there.stderr]).toEqual([exitCodes.done, expect.stringContaining('data-key')]);
      const copied = JSON.parse(there.stdout);
      expect(copied).toMatchObject({
        from: expect.any(String),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(copied.rows).toBeGreaterThan(0);

      const again = await copy(env, '--to', address);
      expect(again.code).not.toBe(exitCodes.done);
      const back = await copy(env, '--from', address, '--to', join(home, 'back'), '--jq', '.sha256');
      expect([back.code, back.stdout.trim()]).toEqual([exitCodes.done, copied.sha256]);
    },
  );
});
