import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exitCodes } from '../../src/shared/errors.ts';
import { runCli, temporaryHome } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { fail, fakeDaemon } from './fake-daemon.ts';

interface Rejection {
  param?: string;
  headers?: Record<string, string>;
}

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

test.each([
  [
    'one rejected the API key: check it (401)',
    'next    Replace the key where the daemon runs, then restart it.',
  ],
  ['POST /v1/chat/completions was not recorded', 'next    Record it: gateway serve --record FOLDER'],
  [
    'No recording answers POST /v1/x: the folder is empty',
    'next    Record it: gateway serve --record FOLDER',
  ],
  ['one reports that the account is out of credit: add credit there (402)', undefined],
  ['one rejected the API key: check it (401); two timed out', 'next    Try again in a moment.'],
])('the advice after “%s” is what helps', async (failure, next) => {
  const { env } = await fakeDaemon({
    'GET /v1/rates': (_call, response) => {
      fail(response, 502, { code: 'upstream_failed', message: `Every provider tried failed: ${failure}.` });
    },
  });
  const { stderr } = await runCli(['rates'], { env });
  if (next === undefined) expect(stderr).not.toContain('next');
  else expect(stderr).toContain(next);
});

test.each([404, 401, 405])('a %i of another program says that it is no gateway', async (status) => {
  const other = createServer((_request, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end('{"error":{"message":"unknown path"}}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const { code, stderr } = await runCli(['status', '--host', url], {
    env: { GATEWAY_HOME: await temporaryHome(), GATEWAY_KEY: 'gwk_example' },
  });
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toBe(`error: ${url} does not respond like a gateway.\n  next    Check the address.\n`);
});

test('a message of the API is in the words of the command', async () => {
  const answer =
    (error: { code: string; message: string; param?: string }) =>
    (_call: unknown, response: ServerResponse) =>
      fail(response, 400, error);
  const { env } = await fakeDaemon({
    'POST /v1/workspaces/me/keys': answer({
      code: 'invalid_request',
      message: '`limits.expires_at` must be in the future, unlike `limits.nosuch`.',
      param: 'limits.expires_at',
    }),
    'POST /v1/threads': answer({
      code: 'invalid_request',
      message: '`title` must not be empty.',
      param: 'title',
    }),
    'GET /v1/models/none': answer({
      code: 'model_not_found',
      message: 'There is no model "none". GET /v1/models lists the models.',
    }),
    'POST /v1/responses': answer({
      code: 'invalid_request',
      message: 'remove `store: false`; sim/e is an embedding model: call it at /v1/embeddings.',
    }),
    'POST /api/autopilots': answer({ code: 'invalid_request', message: 'No.', param: 'policy.model' }),
    'GET /v1/rates': answer({ code: 'permission', message: 'This endpoint is not available to agents.' }),
  });
  const stderrOf = async (...args: string[]) => (await runCli(args, { env })).stderr;
  expect(await stderrOf('respond', '--background', '--no-store', '-m', 'm', 'Hi')).toMatch(
    /^error: remove --no-store; sim\/e is an embedding model\. To call it: gateway embed\n/,
  );
  expect(await stderrOf('autopilots', 'create', 'x', '--policy', '{}')).toMatch(/next +Change --model, /);
  const expires = await stderrOf('keys', 'issue', '--expires', '1d');
  expect(expires).toMatch(/^error: --expires must be in the future, unlike `limits.nosuch`\.\n/);
  expect(expires).toMatch(/next +Change --expires, then try again\.\n/);
  expect(await stderrOf('threads', 'create', '')).toMatch(/^error: <title> must not be empty\.\n/);
  expect(await stderrOf('models', 'show', 'none')).toMatch(/^error: There is no model "none"\.\n/);
  expect(await stderrOf('rates')).toMatch(/^error: This command is not available to agents\.\n/);
});

test('an argument that cannot be part of a path is an error of the command line', async () => {
  const { env, calls } = await fakeDaemon({});
  expect(await runCli(['models', 'show', ''], { env })).toMatchObject({
    code: exitCodes.usage,
    stderr: 'error: The model is empty.\n',
  });
  expect((await runCli(['usage', 'show', '..'], { env })).stderr).toBe(
    'error: ".." is not a valid request id.\n',
  );
  expect(calls).toEqual([]);
});

test('the time to wait is reported', async () => {
  const { env } = await failing(429, 'rate_limited', { 'retry-after': '30' });
  expect((await runCli(['rates'], { env })).stderr).toContain('Try again in 30 s.');
});

test('after a conflict, the message alone says what is in the way', async () => {
  const { env } = await failing(409, 'conflict');
  expect((await runCli(['rates'], { env })).stderr).not.toContain('next');
});

test('a rate limit of a key is not answered with advice to change its limits', async () => {
  const { env } = await failing(403, 'limit_reached', { 'retry-after': '30' });
  expect((await runCli(['rates'], { env })).stderr).not.toContain('limits set');
});

test('after a wrong invitation code, the advice says where to get another', async () => {
  const { env } = await fakeDaemon({
    'POST /v1/invitations/accept': (_call, response) =>
      fail(response, 404, { code: 'not_found', message: 'No.', param: 'code' }),
  });
  const { stderr } = await runCli(['workspaces', 'accept'], { env, stdin: 'ABCDE' });
  expect(stderr).toMatch(/next +Ask the sender for a new code: gateway workspaces invite\n/);
});

test.each([
  ['payments show pay_x', 'GET /api/payments/:id', 'payment "pay_x"', 'payments list'],
  [
    'payments resolve pay_x --failed --yes',
    'POST /v1/admin/payments/:id/resolve',
    'payment "pay_x"',
    'payments list',
  ],
  ['invoice show inv_x', 'GET /api/payments/invoices/:id', 'invoice "inv_x"', 'invoice list'],
  ['paywalls show pwl_x', 'GET /api/l402/paywalls/:id', 'paywall "pwl_x"', 'paywalls list'],
  ['tokens revoke tok_x --yes', 'DELETE /api/tokens/:id', 'token "tok_x"', 'tokens list'],
  ['shouts delete 7 --yes', 'DELETE /api/shouts/:id', 'shout "7"', 'shouts list'],
  ['chats runs cht_x', 'GET /api/chats/:id/runs', 'conversation "cht_x"', 'chats list'],
])(
  'a 404 without a word about it: %s names what is missing and how to list it',
  async (line, route, thing, list) => {
    const { env } = await fakeDaemon({
      [route.replace(':id', line.split(' ')[2] ?? '')]: (_call, response) => {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not found."}');
      },
    });
    const { code, stderr } = await runCli(line.split(' '), { env });
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toMatch(new RegExp(`^error: There is no ${thing}\\.\\n`));
    expect(stderr).toContain(`List what exists: gateway ${list}\n`);
  },
);

test('after a missing provider key, the advice says where to set it', async () => {
  const { env, url } = await fakeDaemon({
    'GET /v1/rates': (_call, response) =>
      fail(response, 503, { code: 'no_route', message: 'No provider. openai: no key: set OPENAI_API_KEY.' }),
  });
  const { code, stderr } = await runCli(['rates'], { env });
  expect(code).toBe(exitCodes.tryLater);
  expect(stderr).toMatch(/next +Set a key where the daemon runs, then restart it; see: gateway status\n/);
  const elsewhere = { GATEWAY_HOME: await temporaryHome(), GATEWAY_KEY: 'gwk_member' };
  const remote = await runCli(['rates', '--host', url], { env: elsewhere });
  expect(remote.stderr).toMatch(/next +Set a key for your workspace: gateway provider-keys set PROVIDER\./);
});

test.each([
  [{ param: 'tools' }, /Choose another model, .*: gateway models list/],
  [{ param: 'limits.max_price' }, /gateway keys limits set KEY/],
  [{ headers: { 'retry-after': '30' } }, /Try again in 30 s/],
])('without a route, the advice fits the reason: %j', async ({ param, headers = {} }: Rejection, advice) => {
  const { env } = await fakeDaemon({
    'GET /v1/rates': (_call, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      fail(response, 503, { code: 'no_route', message: 'No provider can serve it.', param });
    },
  });
  const { stderr } = await runCli(['rates'], { env });
  expect(stderr).toMatch(advice);
  expect(stderr).not.toContain('Change');
});

test('without a wallet, the advice is to create one', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/rates': (_call, response) =>
      fail(response, 400, { code: 'invalid_request', message: 'You have no wallet yet.', param: 'wallet' }),
  });
  expect((await runCli(['rates'], { env })).stderr).toMatch(/next +Create a wallet: gateway wallet create\n/);
});

test('suggested commands start with npx under npx', async () => {
  const { env } = await failing(503, 'unavailable');
  const { stderr } = await runCli(['rates'], { env: { ...env, npm_command: 'exec' } });
  expect(stderr).toMatch(/next +Try again in a moment\. To see what is wrong: npx gateway doctor\n/);
});

test('a message from the service cannot control the terminal', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/rates': (_call, response) => fail(response, 400, { code: 'x', message: 'bad \u001b[2J' }),
  });
  const { stderr } = await runCli(['rates', '--no-color'], { env, tty: true });
  expect(stderr).toContain('bad ␛[2J');
  expect(stderr).not.toContain('\u001b');
});

test('another service at the address is not mistaken for a gateway', async () => {
  const { env } = await fakeDaemon({ 'GET /v1/rates': (_call, response) => response.end('<html>') });
  const { code, stderr } = await runCli(['rates'], { env });
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toMatch(/error: .* does not respond like a gateway\.\n +next +Check the address/);
});

describe('on a daemon', () => {
  let daemon: RunningDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(async () => {
    await daemon.stop();
  });

  test.each([
    ['keys show key_1', 'gateway keys list'],
    ['keys revoke key_1 --yes', 'gateway keys list'],
    ['threads show th_1', 'gateway threads list'],
    ['responses get resp_1', 'gateway responses list'],
    ['usage req_1', 'gateway calls list'],
    ['traces req_1', 'gateway calls list'],
    ['workspaces show other', 'gateway workspaces list'],
    ['workspaces role max admin', 'gateway workspaces members'],
    ['workspaces uninvite inv_1', 'gateway workspaces invitations'],
    ['sessions revoke log_1 --yes', 'gateway sessions list'],
    ['users login-code max', 'gateway users list'],
    ['tokens revoke tok_1 --yes', 'gateway tokens list'],
    ['autopilots show bot', 'gateway autopilots list'],
    ['chats runs th_1', 'gateway chats list'],
    ['respond --no-stdin -m sim/echo --thread th_1 Hi', 'gateway threads list'],
  ])('after a 404, %s suggests %s', async (line, command) => {
    const env = { GATEWAY_HOME: daemon.home };
    const { code, stderr } = await runCli(line.split(' '), { env });
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toMatch(new RegExp(`next +List what exists: ${command}\n`));
    const listed = await runCli([...command.split(' ').slice(1), '--help'], { env });
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(command)]);
  });
});
