import { execFile, spawn } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const bin = 'bin/gateway.js';

let home: string;
let url: string;
let ended: Promise<number | null>;

const gateway = (...args: string[]) =>
  run(process.execPath, [bin, ...args], { env: { ...process.env, GATEWAY_HOME: home } });

/** The program as it is published: what `npm run build` made, started as a process of its own. */
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-package-'));
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], {
    env: { ...process.env, GATEWAY_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ended = new Promise((resolve) => child.on('exit', resolve));
  const banner = await new Promise<string>((resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString()));
  });
  url = /http:\/\/\S+/.exec(banner)?.[0] ?? '';
});

afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

test.skipIf(process.platform === 'win32')('npx finds the clone’s own command', async () => {
  expect(await realpath('node_modules/.bin/gateway')).toBe(await realpath(bin));
});

describe('the built program', () => {
  test('tells its status', async () => {
    const { stdout } = await gateway('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ url, data_dir: home, pid: expect.any(Number) });
  });

  test('answers a model call', async () => {
    const { stdout } = await gateway('respond', '--no-stdin', '--model', 'sim/echo', 'as published');
    expect(stdout).toBe('as published\n');
  });

  test('issues a key that works', async () => {
    const { stdout } = await gateway('keys', 'issue', '--name', 'test', '--quiet');
    const answer = await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${stdout.trim()}` } });
    expect(await answer.json()).toMatchObject({ name: 'test' });
  });

  test('knows prices', async () => {
    const { stdout } = await gateway('models', 'show', 'openai/gpt-5', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ service: { prices: { input: expect.any(String) } } });
  });

  test('stops when asked, with exit code 0', async () => {
    await gateway('stop');
    expect(await ended).toBe(0);
  });
});
