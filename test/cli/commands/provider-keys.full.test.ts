import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../../support/fake-openai.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { type DaemonOptions, type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

const good = 'sk-OWNKEYCANARY-0123456789abcdefghijklmnop';
const bad = 'sk-BADKEYCANARY-0123456789abcdefghijklmnop';
const passphrase = 'correct horse battery';

let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi({ keys: [good] });
  const providers = `providers: {openai: {base_url: "${fake.baseUrl}"}, google: {base_url: "http://127.0.0.1:9"}}\n`;
  daemon = await startDaemon({ config: `vault: {keychain: false}\n${providers}` });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

const run = (line: string, { env, ...options }: RunOptions = {}) =>
  runCli(line.split(' '), { ...options, env: { GATEWAY_HOME: daemon.home, ...env } });

test('a host without a store for the master key suggests one', async () => {
  const { code, stderr } = await run('provider-keys set openai', { stdin: `${good}\n` });
  expect(code).toBe(6);
  expect(stderr).toContain('gateway vault unlock --passphrase');
  expect(stderr).toContain('GATEWAY_MASTER_KEY_FILE');
  expect(stderr).not.toContain('Try again');
  expect(stderr).not.toContain('CANARY');
  expect((await run('vault status --json=state,store,secrets')).stdout).toBe(
    `${JSON.stringify({ state: 'no_vault', store: null, secrets: 0 })}\n`,
  );
  expect((await run('doctor')).stdout).toMatch(/^warning\tvault\tcould not be created\t.*--passphrase/m);
});

test('unlocking without a vault says how to create one', async () => {
  const { code, stderr } = await run('vault unlock', { tty: true });
  expect(code).toBe(6);
  expect(stderr).toContain('gateway vault unlock --passphrase');
});

test('a passphrase, typed twice, creates a vault', async () => {
  const differs = await run('vault unlock --passphrase', { tty: true, typed: [passphrase, 'another one'] });
  expect(differs.code).toBe(2);
  expect((await run('vault --json=state')).stdout).toContain('no_vault');
  const made = await run('vault unlock --passphrase', { tty: true, typed: [passphrase, passphrase] });
  expect(made.code).toBe(0);
  expect(made.stdout).toContain('unlocked');
  expect(made.stdout + made.stderr).not.toContain(passphrase);
});

test('a key comes from a pipe, the environment or a prompt, never from an argument', async () => {
  expect((await run('provider-keys set openai', { stdin: `${bad}\n` })).code).toBe(0);
  expect((await run('provider-keys set openai', { tty: true, typed: [bad] })).code).toBe(0);
  const set = await run('provider-keys set openai --from-env MY_KEY', { env: { MY_KEY: good } });
  expect(set.stdout).toMatch(/^openai\t[0-9a-f]{12}\t/);
  expect(set.stdout + set.stderr).not.toContain('CANARY');
  for (const typed of [good, `--key=${good}`]) {
    const refused = await run(`provider-keys set openai ${typed}`);
    expect(refused.code).toBe(2);
    expect(refused.stderr).not.toContain('CANARY');
  }
  expect((await run('provider-keys set openai --from-env UNSET_KEY')).code).toBe(2);
  expect((await run('provider-keys set openai', { stdin: '' })).code).toBe(2);
  expect((await run('provider-keys set nobody', { stdin: good })).code).toBe(2);
  const wrong = await run('provider-keys set anthropic', { stdin: good });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('sk-ant-');
});

test('list shows fingerprints', async () => {
  const { stdout } = await run('provider-keys list --json provider,fingerprint');
  expect(JSON.parse(stdout)).toEqual([
    { provider: 'openai', fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/) },
  ]);
  expect((await run('provider-keys list', { tty: true })).stdout).toMatch(/openai +[0-9a-f]{12} +/);
});

test("check reports the provider's answer in its exit code", async () => {
  expect(await run('provider-keys check openai')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^openai\tgood\t/),
  });
  await run('provider-keys set openai', { stdin: bad });
  expect(await run('provider-keys check openai')).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/^openai\trefused\t/),
  });
  await run('provider-keys set google', { stdin: 'AIzaSy0123456789abcdefghijklm' });
  expect(await run('provider-keys check google')).toMatchObject({
    code: 6,
    stdout: expect.stringMatching(/^google\tunreachable\t/),
  });
  expect((await run('provider-keys check vercel')).code).toBe(1);
});

test('after a start the vault is locked until its passphrase is given', async () => {
  await run('provider-keys set openai', { stdin: good });
  await daemon.stop({ keep: true });
  daemon = await startDaemon({
    home: daemon.home,
    config: `vault: {keychain: false}\nproviders: {openai: {base_url: "${fake.baseUrl}"}}\n`,
  });
  expect((await run('status')).stdout).toContain('\tsealed');
  expect((await run('doctor')).stdout).toMatch(/^warning\tvault\tsealed\t.*gateway vault unlock/m);
  const refused = await run('provider-keys check openai');
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain('gateway vault unlock');
  const wrong = await run('vault unlock', { stdin: 'not the passphrase' });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('The passphrase is wrong');
  expect((await run('vault unlock --from-env P', { env: { P: passphrase } })).code).toBe(0);
  expect((await run('provider-keys check openai')).code).toBe(0);
});

describe('on start, the passphrase', () => {
  const config = 'vault: {keychain: false}\n';
  const startAgain = async (options: Pick<DaemonOptions, 'env' | 'askSecret'> = {}) => {
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ home: daemon.home, config, ...options });
  };
  const comesTo = (state: string) =>
    eventually(state, async () => (await run('vault --json=state')).stdout.includes(`"${state}"`));

  test('is read from a private file', async () => {
    const file = join(daemon.home, 'passphrase');
    await writeFile(file, `${passphrase}\n`, { mode: 0o600 });
    await startAgain({ env: { GATEWAY_VAULT_PASSPHRASE_FILE: file } });
    await comesTo('unlocked');
    await chmod(file, 0o644);
    await startAgain({ env: { GATEWAY_VAULT_PASSPHRASE_FILE: file } });
    expect((await run('provider-keys check openai')).stderr).toContain('chmod 600');
    await writeFile(file, 'another passphrase');
    await chmod(file, 0o600);
    // A request makes the daemon look for it immediately.
    await daemon.fetch('/v1/admin/vault/unlock', {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect((await run('vault --json=state,reason')).stdout).toMatch(
      /sealed.*The passphrase in the file is wrong/,
    );
    expect((await run('vault unlock', { stdin: passphrase })).code).toBe(0);
  });

  test('is asked for on the terminal, again if it is wrong', async () => {
    const typed = ['not the passphrase', passphrase];
    const asked: string[] = [];
    await startAgain({
      askSecret: async (question) => {
        asked.push(question);
        return typed.shift();
      },
    });
    await comesTo('unlocked');
    expect(asked).toHaveLength(2);
    await eventually('it says so', () => daemon.printed().stderr.endsWith('The vault is unlocked.\n'));
    expect(daemon.printed().stderr).not.toContain(passphrase);
  });

  test('may be skipped, and does not delay stopping', async () => {
    await startAgain({ askSecret: async () => '' });
    await eventually('it says so', () => daemon.printed().stderr.includes('gateway vault unlock'));
    const aborted = Promise.withResolvers<void>();
    await startAgain({
      askSecret: (_question, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.resolve();
            resolve(undefined);
          });
        }),
    });
    await startAgain();
    await aborted.promise;
    expect((await run('vault unlock', { stdin: passphrase })).code).toBe(0);
  });
});

test('export asks first, and prints the master key', async () => {
  expect((await run('vault export', { stdin: '' })).code).toBe(2);
  expect((await run('vault export', { tty: true, typed: ['n'] })).stdout).toBe('');
  const [id, key] = (await run('vault export --yes')).stdout.trim().split('\t');
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(key).toMatch(/^[\w-]{43}$/);
  await daemon.stop({ keep: true });
  daemon = await startDaemon({ home: daemon.home, config: 'vault: {keychain: false}\n' });
  expect((await run('vault unlock --master-key', { stdin: 'A'.repeat(43) })).code).toBe(1);
  expect((await run('vault unlock --master-key', { stdin: key as string })).code).toBe(0);
});

test('rotate asks first, and moves the master key to another store', async () => {
  expect((await run('vault rotate --to plain', { stdin: '' })).code).toBe(2);
  const refused = await run('vault rotate --to plain --yes');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('insecure_plain_file');
  const rotated = await run('vault rotate --yes --json=state,store,secrets', { stdin: 'another passphrase' });
  expect(JSON.parse(rotated.stdout)).toEqual({ state: 'unlocked', store: 'passphrase', secrets: 2 });
});

test('delete asks first', async () => {
  expect((await run('provider-keys delete google', { tty: true, typed: ['no'] })).code).toBe(1);
  expect((await run('provider-keys delete google --yes')).code).toBe(0);
  expect((await run('provider-keys delete openai', { tty: true, typed: ['y'] })).code).toBe(0);
  const { stdout, stderr } = await run('provider-keys list', { tty: true });
  expect(stdout + stderr).toContain('gateway provider-keys set');
});
