import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { addPayer, openTill, type Payer, paymentsConfig } from '../support/paid-calls.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let provider: FakeOpenAi;
let daemon: RunningDaemon;
let bob: Payer;

beforeAll(async () => {
  provider = await startFakeOpenAi();
  daemon = await startDaemon({
    config: `${paymentsConfig}upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [large], wire: responses, prices: {input: "1", output: "10"}}]`,
    env: { FAKE_KEY: 'sk-fake' },
  });
  await openTill(daemon);
  bob = await addPayer(daemon, 'bob');
});

afterAll(async () => {
  await daemon.stop();
  await provider.close();
});

const asBob = () => ({ GATEWAY_HOME: daemon.home, GATEWAY_KEY: bob.key });
const respond = (...flags: string[]) =>
  runCli(['respond', 'Hi', '--model', 'fake/large', '--max-output-tokens', '100', '--no-stream', ...flags], {
    env: asBob(),
    stdin: '',
  });

describe('gateway respond --pay', () => {
  test('refuses to pay more than the maximum, with exit code 5', async () => {
    const before = await bob.balance();
    const { code, stdout, stderr } = await respond('--pay', '--max-sats', '1');
    expect(code).toBe(5);
    expect(stdout).toBe('');
    expect(stderr).toContain('The call costs 2 sats, more than --max-sats 1.');
    expect(await bob.balance()).toBe(before);
  });

  test('pays and prints the answer', async () => {
    const before = await bob.balance();
    const { code, stdout, stderr } = await respond('--pay', '--max-sats', '10');
    expect(stderr).toContain('Paid 2 sats for this call.');
    expect(code).toBe(0);
    expect(stdout).not.toBe('');
    expect(await bob.balance()).toBe(before - 2);
  });

  test('does not take the prompt that follows it for its value', async () => {
    const words = ['respond', '--pay', 'Hi', 'again', '--max-sats', '10', '--model', 'fake/large'];
    const { code, stderr } = await runCli([...words, '--max-output-tokens', '100', '--no-stream'], {
      env: asBob(),
      stdin: '',
    });
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('invalid') });
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain('Hi again');
  });

  test('is needed for --max-sats; without it the error says how to pay', async () => {
    expect((await respond('--max-sats', '10')).code).toBe(2);
    const { code, stderr } = await runCli(['respond', 'Hi', '--model', 'fake/large', '--no-stream'], {
      env: { GATEWAY_HOME: daemon.home, GATEWAY_KEY: (await addPayer(daemon, 'carol', 1)).key },
      stdin: '',
    });
    expect(code).toBe(5);
    expect(stderr).toContain('--pay --max-sats');
  });
});

describe('gateway credit buy', () => {
  test('prints the invoice, waits until it is paid, and credits it once', async () => {
    const dan = await addPayer(daemon, 'dan', 10_000);
    const env = { GATEWAY_HOME: daemon.home, GATEWAY_KEY: dan.key };
    let paying: Promise<unknown> | undefined;
    const { code, stdout, stderr } = await runCli(['credit', 'buy', '--sats', '5000'], {
      env,
      stdin: '',
      onStdout(text) {
        const invoice = /lnbcrt\w+/.exec(text)?.[0];
        if (invoice && !paying) paying = dan.payInvoice({ invoice });
      },
    });
    await paying;
    expect(code).toBe(0);
    expect(stdout.trim()).toMatch(/^lnbcrt\w+$/);
    expect(stderr).toContain('Paid. $5 of credit was added.');
    const shown = await runCli(['credit', 'show', '--json=balance_usd'], { env, stdin: '' });
    expect(JSON.parse(shown.stdout)).toMatchObject({ balance_usd: '5' });
  });

  test('shows a QR code on a terminal, and stops waiting on Ctrl-C', async () => {
    const interrupt = new AbortController();
    const { code, stdout } = await runCli(['credit', 'buy', '--usd', '1.50'], {
      env: asBob(),
      tty: true,
      interrupt: interrupt.signal,
      onStderr: (text) => text.includes('Waiting for the payment') && interrupt.abort(),
    });
    expect(code).toBe(130);
    expect(stdout).toContain('1,500 sats');
    expect(stdout).toMatch(/[▀▄█]{5}/);
  });

  test('does not advise to wait where no wallet receives payments', async () => {
    const host = await startDaemon({ config: paymentsConfig });
    const { code, stderr } = await runCli(['credit', 'buy', '--sats', '5'], {
      env: { GATEWAY_HOME: host.home },
      stdin: '',
    });
    await host.stop();
    expect(code).toBe(6);
    expect(stderr).toContain('its owner needs a wallet (gateway wallet create)');
    expect(stderr).not.toContain('Try again');
  });

  test('needs one amount', async () => {
    expect((await runCli(['credit', 'buy'], { env: asBob(), stdin: '' })).code).toBe(2);
    expect((await runCli(['credit', 'buy', '--sats', '0'], { env: asBob(), stdin: '' })).code).toBe(2);
  });
});
