import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { DaemonFile } from '../../src/shared/folders.ts';
import { eventually } from '../support/eventually.ts';
import { addEmptyDatabase } from '../support/new-database.ts';
import { programs } from '../support/programs.ts';

const { cli } = await programs();

type Output = 'closed pipe' | 'pipe that nobody reads' | 'full disk';

/** Starts `gateway serve`, whose two output streams are both broken in the same way; resolves when it serves. */
async function startWith(output: Output): Promise<{ child: ChildProcess; home: string }> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-unread-'));
  addEmptyDatabase(home);
  await writeFile(join(home, 'config.yaml'), 'local_servers: false\nlog: { level: info }\n');
  const file = output === 'full disk' ? openSync('/dev/full', 'w') : undefined;
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    env: { PATH: process.env.PATH ?? '', GATEWAY_HOME: home, GATEWAY_PAYWALLS_PORT: '0' },
    stdio: ['ignore', file ?? 'pipe', file ?? 'pipe'],
  });
  if (file !== undefined) closeSync(file);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });
  // Node reads a pipe only once something asks for its data.
  if (output === 'closed pipe') for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  return { child, home };
}

// Only Linux has /dev/full.
const onLinux = test.skipIf(process.platform !== 'linux');

onLinux.each<Output>(['closed pipe', 'pipe that nobody reads', 'full disk'])(
  'a daemon whose output is a %s serves and stops',
  async (output) => {
    const { child, home } = await startWith(output);
    const ended = once(child, 'exit');
    const read = (name: string) => readFile(join(home, name), 'utf8').catch(() => undefined);
    const { url } = JSON.parse(await eventually('daemon.json', () => read('daemon.json'))) as DaemonFile;
    const key = (await read('default-key'))?.trim();
    // More than a pipe holds.
    for (let call = 0; call < 300; call += 1) {
      const answer = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sim/echo', input: 'x' }),
      });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect((await read('gateway.log'))?.length).toBeGreaterThan(100_000);
  },
);
