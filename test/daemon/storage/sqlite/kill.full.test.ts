import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { openTemporarily } from './temporary.ts';

/** `KILLS=100` for a night. */
const kills = Number(process.env.KILLS ?? 5);
const script = fileURLToPath(new URL('./storage-child.ts', import.meta.url));
const { open, newFolder, cleanUp } = openTemporarily();
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await cleanUp();
});

/** Runs the child until it has acknowledged `lines` writes, kills it, and returns what it acknowledged. */
async function runAndKill(folder: string, prefix: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [script, folder, prefix], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const exited = once(child, 'exit');
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== 'ready') acknowledged.push(line);
    if (acknowledged.length >= lines || (lines === 0 && line === 'ready')) child.kill('SIGKILL');
  }
  const [code, signal] = await exited;
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return acknowledged;
}

test(`no acknowledged write is lost in ${kills} kills at different moments, and the balances stay right`, {
  timeout: 300_000 + kills * 10_000,
}, async () => {
  const folder = newFolder();
  const acknowledged: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    // Each start takes the lock of the killed one and adds up all entries before it writes.
    const lines = round % 5 === 0 ? 0 : 4 * 3 ** (round % 5);
    acknowledged.push(...(await runAndKill(folder, `req_${String(round).padStart(2, '0')}`, lines)));
  }

  const storage = await open({ folder });
  const settled = new Set<string>();
  const held = new Set<string>();
  for (const line of acknowledged) {
    const [what, id = ''] = line.split(' ');
    (what === 'settled' ? settled : held).add(id);
  }
  const holds = await Promise.all(
    (await storage.daemons.left()).map((daemon) => storage.metering.leftHolds(daemon)),
  );
  const left = new Set(holds.flat().map((hold) => hold.requestId));
  const isKept = async (id: string) => (await storage.metering.usage(id)) !== undefined;
  const lost: string[] = [];
  for (const id of settled) if (!(await isKept(id)) || left.has(id)) lost.push(`settled ${id}`);
  for (const id of held) if (!left.has(id) && !(await isKept(id))) lost.push(`held ${id}`);

  expect(lost).toEqual([]);
  expect(settled.size).toBeGreaterThan(kills * 10);
  expect(left.size).toBeGreaterThan(0);
  expect(await storage.check()).toEqual({ ok: true, problems: [] });
  const served = (await storage.metering.served()).reduce((sum, day) => sum + day.requests, 0);
  expect(served).toBeGreaterThanOrEqual(settled.size);
});
