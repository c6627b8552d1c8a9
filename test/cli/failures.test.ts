import { expect, test } from 'vitest';
import { exitCodes } from '../../src/shared/errors.ts';
import { runCli } from '../support/run-cli.ts';
import { fail, fakeDaemon } from './fake-daemon.ts';

const failing = (status: number, code: string, headers: Record<string, string> = {}) =>
  fakeDaemon({
    'GET /v1/rates': (_call, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      fail(response, status, { code, message: 'A sentence.' });
    },
  });

test.each([
  [400, 'invalid_request', exitCodes.failed],
  [401, 'unauthenticated', exitCodes.signIn],
  [401, 'signed_out', exitCodes.signIn],
  [402, 'insufficient_balance', exitCodes.pay],
  [402, 'agent_free_requests_used', exitCodes.pay],
  [403, 'limit_reached', exitCodes.refused],
  [404, 'model_not_found', exitCodes.failed],
  [409, 'idempotency_conflict', exitCodes.failed],
  [418, 'unheard_of', exitCodes.failed],
  [429, 'rate_limited', exitCodes.tryLater],
  [500, 'unheard_of', exitCodes.tryLater],
  [503, 'no_route', exitCodes.tryLater],
])('%i %s exits %i', async (status, code, exit) => {
  const { env } = await failing(status, code);
  const result = await runCli(['rates'], { env });
  expect(result).toMatchObject({ code: exit, stdout: '' });
  expect(result.stderr).toMatch(new RegExp(`^error: A sentence\\.\\n(.*\\n)* +code +${code}\\n`));
});

test('how long to wait is told', async () => {
  const { env } = await failing(429, 'rate_limited', { 'retry-after': '30' });
  expect((await runCli(['rates'], { env })).stderr).toContain('Try again in 30 s.');
});

test('a missing key of a provider is told where to set it', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/rates': (_call, response) =>
      fail(response, 503, { code: 'no_route', message: 'No provider. openai: no key: set OPENAI_API_KEY.' }),
  });
  const { code, stderr } = await runCli(['rates'], { env });
  expect(code).toBe(exitCodes.tryLater);
  expect(stderr).toMatch(/next +Set a key where the daemon runs, then start it again; see: gateway status\n/);
});

test('what to type next is told as it has to be typed where npx was', async () => {
  const { env } = await failing(503, 'unavailable');
  const { stderr } = await runCli(['rates'], { env: { ...env, npm_command: 'exec' } });
  expect(stderr).toMatch(/next +Try again in a moment\. What is wrong: npx gateway doctor\n/);
});

test('what the service says cannot steer the terminal', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/rates': (_call, response) => fail(response, 400, { code: 'x', message: 'bad \u001b[2J' }),
  });
  const { stderr } = await runCli(['rates', '--no-color'], { env, tty: true });
  expect(stderr).toContain('bad ␛[2J');
  expect(stderr).not.toContain('\u001b');
});

test('whatever else answers at that address is not taken for a gateway', async () => {
  const { env } = await fakeDaemon({ 'GET /v1/rates': (_call, response) => response.end('<html>') });
  const { code, stderr } = await runCli(['rates'], { env });
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toMatch(/error: .* does not answer as a gateway does\.\n +next +Check the address/);
});
