import { afterAll, beforeAll, expect, test } from 'vitest';
import { easySignUp } from '../../support/agents.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon({ config: easySignUp });
});

afterAll(async () => {
  await daemon.stop();
});

const run = (args: string[], env: Record<string, string> = {}) =>
  runCli(args, { env: { GATEWAY_HOME: daemon.home, ...env } });

test('sign-up solves the challenge and prints a secret that works', async () => {
  const { code, stdout, stderr } = await run(['agents', 'sign-up', 'scout', '--quiet']);
  expect([code, stderr]).toEqual([0, '']);
  const secret = stdout.trim();
  expect(secret).toMatch(/^gwa_\w+$/);
  const answer = await run(['respond', '-n', '--model', 'sim/echo', 'Hello.'], { GATEWAY_KEY: secret });
  expect(answer.code).toBe(0);
  const me = await run(['agents', 'me'], { GATEWAY_KEY: secret });
  expect(me.code).toBe(0);
  expect(me.stdout).toMatch(/^name\tscout$/m);
  expect(me.stdout).toMatch(/^free requests\t1 of 20$/m);
});

test('a selection of the JSON does not lose the secret', async () => {
  const { stdout, stderr } = await run(['agents', 'sign-up', 'scout', '--jq=.agent.name']);
  expect(stdout).toBe('scout\n');
  expect(stderr).toMatch(/not shown again: secret gwa_\w+\n/);
});

test('sign-up needs no credential', async () => {
  const { code, stdout } = await run(['agents', 'sign-up', 'scout', '--json'], { GATEWAY_KEY: 'gwk_wrong' });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ agent: { name: 'scout' }, secret: expect.any(String) });
});

test('a name that is too long is refused', async () => {
  const { code, stderr } = await run(['agents', 'sign-up', 'x'.repeat(65)]);
  expect(code).toBe(1);
  expect(stderr).toContain('1 to 64 bytes');
});

test('other callers are told that they are no agent', async () => {
  const { code, stderr } = await run(['agents', 'me']);
  expect(code).toBe(1);
  expect(stderr).toContain('The caller is not an agent.');
});
