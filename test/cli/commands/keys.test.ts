import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Key } from '../../../src/shared/contract/keys.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const keyRecord: Key = {
  id: 'key_1',
  name: 'ci',
  workspace: 'ws_1',
  owner: 'usr_1',
  status: 'active',
  scopes: ['responses'],
  models: null,
  actions: null,
  limits: {
    spend_cap: { usd: '5', period: 'day' },
    max_price: null,
    models: null,
    requests_per_minute: 60,
    concurrency: null,
    queue_seconds: null,
    expires_at: null,
  },
  defaults: { cache: null, store: null, events: null, capture: null },
  hint: 'gwk_aB3d…x9Zk',
  created_at: '2026-11-20T08:00:00.000Z',
  last_used_at: null,
  revoked_at: null,
  rotated_at: null,
  paused_at: null,
};
const secret = 'gwk_secret';
const keys = '/v1/workspaces/me/keys';

describe('keys issue', () => {
  const issuing = () => fakeDaemon({ [`POST ${keys}`]: () => ({ key: keyRecord, secret }) });

  test.each([
    ['piped', [], 'key_1\tgwk_secret\n'],
    ['with --quiet', ['--quiet'], 'gwk_secret\n'],
    ['with --json=secret', ['--json=secret'], '{"secret":"gwk_secret"}\n'],
    ['with a field that does not exist', ['--json', 'id,secret'], '{"id":null,"secret":"gwk_secret"}\n'],
  ])('%s prints the secret for scripts', async (_how, flags, printed) => {
    const { env } = await issuing();
    const { code, stdout } = await runCli(['keys', 'issue', ...flags], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: printed });
  });

  test.each([['--json=key'], ['--json=expires_at'], ['--jq=.key.id'], ['--jq=error("no")']])(
    '%s does not lose the secret',
    async (selection) => {
      const { env } = await issuing();
      const { stdout, stderr } = await runCli(['keys', 'issue', '--quiet', selection], { env });
      expect(stdout).not.toContain(secret);
      expect(stderr).toContain('Missing from the output, and not shown again: secret gwk_secret\n');
    },
  );

  test.each([['--json'], ['--json=secret'], ['--jq=.secret']])(
    '%s prints the secret once',
    async (selection) => {
      const { env } = await issuing();
      const { stdout, stderr } = await runCli(['keys', 'issue', selection], { env });
      expect(stdout).toContain(secret);
      expect(stderr).not.toContain(secret);
    },
  );

  test('on a terminal shows what was issued and warns on stderr', async () => {
    const { env } = await issuing();
    const { stdout, stderr } = await runCli(['keys', 'issue', '--rpm', '60'], {
      env: { ...env, NO_COLOR: '1' },
      tty: true,
    });
    expect(stdout).toMatch(/^id +key_1\nname +ci\nscopes +responses\nsecret +gwk_secret\n$/);
    expect(stderr).toContain('not shown again');
  });

  test.each([
    ['', undefined],
    ['5/day', { spend_cap: { usd: '5', period: 'day' } }],
  ])('without limits asks once on a terminal: %j', async (typed, limits) => {
    const { env, calls } = await issuing();
    const { code, stderr } = await runCli(['keys', 'issue', '--name', 'ci'], {
      env,
      tty: true,
      typed: [typed],
    });
    expect(code).toBe(0);
    expect(stderr).toContain('Spending limit, like 5/day, 20/month or 100/total (Enter: no limit): ');
    expect(calls.map(({ body }) => body)).toEqual([{ name: 'ci', ...(limits && { limits }) }]);
  });

  test.each([
    ['no amount', ['soon'], exitCodes.usage, 'like 5/day, 20/month or 100/total. No key was issued.'],
    ['Ctrl-D', [], exitCodes.failed, 'Cancelled; no key was issued.'],
  ])('issues none if the answer is %s', async (_case, typed, exit, message) => {
    const { env, calls } = await issuing();
    const { code, stderr } = await runCli(['keys', 'issue'], { env, tty: true, typed });
    expect({ code, calls }).toEqual({ code: exit, calls: [] });
    expect(stderr).toContain(message);
  });

  test.each([
    ['with a limit', ['--expires', '30d'], { tty: true }],
    ['with --quiet', ['--quiet'], { tty: true }],
    ['with --json', ['--json'], { tty: true }],
    ['in $(…)', [], { tty: { stdout: false, stderr: true } }],
    ['in CI', [], { tty: true, env: { CI: 'true' } }],
    ['with piped input', [], { tty: true, stdin: '' }],
  ])('does not ask %s', async (_case, flags, options) => {
    const { env, calls } = await issuing();
    const { code, stderr } = await runCli(['keys', 'issue', ...flags], {
      ...options,
      env: { ...env, ...('env' in options && options.env) },
    });
    expect([code, calls.length]).toEqual([0, 1]);
    expect(stderr).not.toContain('Spending limit');
  });

  test('sends the given name and scopes', async () => {
    const { env, calls } = await issuing();
    await runCli(['keys', 'issue', '--name', 'ci', '--scope', 'responses', 'usage:read'], { env });
    expect(calls[0]?.body).toEqual({ name: 'ci', scopes: ['responses', 'usage:read'] });
  });

  test('reports a refusal with its param, request and advice, and exits 3', async () => {
    const { env } = await fakeDaemon({
      [`POST ${keys}`]: (_call, response) =>
        fail(response, 403, {
          code: 'out_of_scope',
          message: 'The key lacks the scope keys.',
          param: 'scopes',
        }),
    });
    const { code, stdout, stderr } = await runCli(['keys', 'issue'], { env });
    expect({ code, stdout }).toEqual({ code: exitCodes.refused, stdout: '' });
    expect(stderr).toMatch(/^error: The key lacks the scope keys\.\n +param +scopes\n/);
    expect(stderr).toMatch(/request +req_fake/);
    expect(stderr).toMatch(/next +Use a key with that scope/);
  });
});

describe('keys list', () => {
  test('reads page after page', async () => {
    const { env, calls } = await fakeDaemon({
      [`GET ${keys}`]: ({ path }) =>
        path.includes('after=')
          ? { object: 'list', data: [{ ...keyRecord, id: 'key_0' }], has_more: false, next: null }
          : { object: 'list', data: [keyRecord], has_more: true, next: 'key_1' },
    });
    const { stdout } = await runCli(['keys', 'list', '--quiet'], { env });
    expect(stdout).toBe('key_1\nkey_0\n');
    expect(calls[1]?.path).toContain('after=key_1');
  });

  const listing = (key: Key = keyRecord) =>
    fakeDaemon({ [`GET ${keys}`]: () => ({ object: 'list', data: [key], has_more: false, next: null }) });

  test('prints JSON with the selected fields', async () => {
    const { env } = await listing();
    const { stdout } = await runCli(['keys', 'list', '--json', 'id,last_used_at'], { env });
    expect(stdout).toBe('[{"id":"key_1","last_used_at":null}]\n');
  });

  test('is a table with relative times on a terminal', async () => {
    const { env } = await listing();
    const { stdout } = await runCli(['keys', 'list'], {
      env: { ...env, NO_COLOR: '1' },
      tty: true,
      columns: 160,
      now: () => Date.parse('2026-11-21T09:00:00Z'),
    });
    expect(stdout).toMatch(/^NAME +STATUS +USED +LIMITS +LAST USED /);
    expect(stdout).toContain('$5 per day, 60 calls per minute');
    expect(stdout).toMatch(/ 1 day ago\n$/);
  });

  const used = { spend_usd: { total: '9', day: '4.5', month: '7' }, requests_last_minute: 0 };
  const noLimits = { ...keyRecord.limits, spend_cap: null, requests_per_minute: null };
  /** Several keys, with the use of each. */
  const listed = (all: Key[]) =>
    fakeDaemon({
      [`GET ${keys}`]: () => ({ object: 'list', data: all, has_more: false, next: null }),
      ...Object.fromEntries(all.map((key) => [`GET ${keys}/${key.id}`, () => ({ ...key, used })])),
    });
  const lines = async (all: Key[], columns: number) => {
    const { env } = await listed(all);
    const { stdout } = await runCli(['keys', 'list', '--no-color'], { env, tty: true, columns });
    return stdout.trimEnd().split('\n');
  };

  test('shows what was used and the limits on 80 columns, and scopes only where they differ', async () => {
    const other: Key = { ...keyRecord, id: 'key_2', name: 'app', limits: noLimits };
    const [titles, first, second] = await lines([keyRecord, other], 80);
    expect(titles).toMatch(/^NAME +STATUS +USED +LIMITS +LAST USED/);
    expect(first).toMatch(/^ci +active +\$4\.50 of \$5 today +\$5 per day/);
    expect(second).toMatch(/^app +active +\$7 this month +none +never/);
    const scoped: Key = { ...other, scopes: ['responses', 'keys'] };
    expect((await lines([keyRecord, other], 200))[0]).not.toContain('SCOPES');
    expect((await lines([keyRecord, scoped], 200))[0]).toMatch(/ SCOPES$/);
  });

  test('lists active keys that share a name with the end of their ids, and commands accept that name', async () => {
    const twins = ['key_1aaaa', 'key_2bbbb'].map((id): Key => ({ ...keyRecord, id }));
    const revoked: Key = { ...keyRecord, id: 'key_3cccc', status: 'revoked' };
    const names = (await lines([...twins, revoked], 80)).slice(1).map((line) => line.split('  ')[0]);
    expect(names).toEqual(['ci (…aaaa)', 'ci (…bbbb)', 'ci']);
    const { env, calls } = await listed([...twins, revoked]);
    expect((await runCli(['keys', 'show', 'ci (…bbbb)'], { env })).code).toBe(0);
    expect(calls.at(-1)?.path).toBe(`${keys}/key_2bbbb`);
  });

  test('makes control characters in a name visible', async () => {
    const { env } = await listing({ ...keyRecord, name: '\u001b[2J\u202eevil' });
    const { stdout } = await runCli(['keys', 'list', '--no-color'], { env, tty: true });
    expect(stdout).toContain('␛[2J<U+202E>evil');
    expect(stdout).not.toContain('\u001b');
  });

  test.each([
    [{ NO_COLOR: '1' }, [], false],
    [{ CI: 'true' }, [], false],
    [{ TERM: 'dumb' }, [], false],
    [{}, ['--no-color'], false],
    [{}, [], true],
  ])('with %j and %j is coloured on a terminal: %s', async (surroundings, flags, coloured) => {
    const { env } = await listing();
    const { stdout } = await runCli(['keys', 'list', ...flags], {
      env: { ...env, ...surroundings },
      tty: true,
    });
    expect(stdout.includes('\u001b[')).toBe(coloured);
  });
});

describe('keys revoke', () => {
  const revoking = (others: string[] = []) =>
    fakeDaemon({
      [`DELETE ${keys}/key_1`]: () => ({ id: 'key_1', object: 'key', deleted: true, also_revoked: others }),
    });

  test.each([
    ['gets yes', ['y'], 0, 1],
    ['gets no', ['n'], exitCodes.failed, 0],
    ['gets nothing', [], exitCodes.failed, 0],
  ])('asks on a terminal, and when it %s acts on it', async (_what, typed, exit, called) => {
    const { env, calls } = await revoking();
    const { code, stderr } = await runCli(['keys', 'revoke', 'key_1'], { env, tty: true, typed });
    expect(stderr).toContain('Revoke key_1?');
    expect({ code, called: calls.length }).toEqual({ code: exit, called });
  });

  test('never asks without a terminal: it needs --yes', async () => {
    const { env, calls } = await revoking();
    const refused = await runCli(['keys', 'revoke', 'key_1'], { env, stdin: 'y\n' });
    expect(refused.code).toBe(exitCodes.usage);
    expect(refused.stderr).toContain('--yes');
    expect(calls).toEqual([]);
    expect((await runCli(['keys', 'revoke', 'key_1', '--yes'], { env, stdin: '' })).code).toBe(0);
  });

  test('prints the result with --json', async () => {
    const { env } = await revoking();
    const { stdout } = await runCli(['keys', 'revoke', 'key_1', '--yes', '--json'], { env });
    expect(JSON.parse(stdout)).toEqual({ id: 'key_1', object: 'key', deleted: true, also_revoked: [] });
  });

  test.each([
    [[], 'Revoked key_1.\n'],
    [['key_2'], 'Revoked key_1 and the key it issued: key_2.\n'],
    [['key_2', 'key_3'], 'Revoked key_1 and the 2 keys it issued: key_2, key_3.\n'],
  ])('lists the keys revoked with it: %j', async (others, note) => {
    const { env } = await revoking(others);
    expect((await runCli(['keys', 'revoke', 'key_1', '--yes'], { env })).stderr).toBe(note);
  });
});

describe('keys default', () => {
  test('prints the key of the first start, with no daemon running', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'default-key'), 'gwk_default\n', { mode: 0o600 });
    const { code, stdout } = await runCli(['keys', 'default'], { env: { GATEWAY_HOME: home } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'gwk_default\n' });
  });

  test('says how to create a missing one', async () => {
    const { code, stderr } = await runCli(['keys', 'default'], {
      env: { GATEWAY_HOME: await temporaryHome() },
    });
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain('gateway serve');
  });
});

test('key shows the calling key', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/key': () => ({
      ...keyRecord,
      balance_usd: null,
      spend_usd: { total: '1.5', day: '0.1', month: '1' },
      free_tier: null,
    }),
  });
  const { stdout } = await runCli(['key'], { env: { ...env, NO_COLOR: '1' }, tty: true });
  expect(stdout).toMatch(/balance +not prepaid/);
  expect(stdout).toMatch(/spend total +\$1\.5/);
});

describe('a key given by its name', () => {
  const others = [
    { ...keyRecord, id: 'key_2', name: 'twice' },
    { ...keyRecord, id: 'key_3', name: 'twice' },
    { ...keyRecord, id: 'key_4', name: 'ci', status: 'revoked' },
  ];
  const named = () =>
    fakeDaemon({
      [`GET ${keys}`]: () => ({ object: 'list', data: [keyRecord, ...others], has_more: false, next: null }),
      [`DELETE ${keys}/key_1`]: () => ({ id: 'key_1', object: 'key', deleted: true, also_revoked: [] }),
    });

  test('resolves to the active key with that name', async () => {
    const { env, calls } = await named();
    expect((await runCli(['keys', 'revoke', 'ci', '--yes'], { env })).code).toBe(0);
    expect(calls.at(-1)).toMatchObject({ method: 'DELETE', path: `${keys}/key_1` });
  });

  test.each([
    ['twice', '2 active keys are named "twice": key_2, key_3.'],
    ['nobody', 'No active key is named "nobody".'],
  ])('is an error when it is ambiguous or unknown: %s', async (name, message) => {
    const { env, calls } = await named();
    const { code, stderr } = await runCli(['keys', 'revoke', name, '--yes'], { env });
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain(message);
    expect(calls.map(({ method }) => method)).toEqual(['GET']);
  });
});
