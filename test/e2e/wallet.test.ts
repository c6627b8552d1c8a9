import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeInvoice, encodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { givePlayMoney } from '../support/play-money.ts';
import { type RunOptions, runCli } from '../support/run-cli.ts';
import { newToken } from '../support/site.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type Answer, addPerson, askDaemon, type Person } from '../support/users.ts';

const config = 'vault: {keychain: false, insecure_plain_file: true}\nlog: {level: trace}\n';
const zeros = `${'abandon '.repeat(11)}about`;
const zerosNode = '027cf7c81dc777e46572ff964f17650a0f6f783319fcc140fb9a69425e2fbdc93c';

let daemon: RunningDaemon;
let bob: Person;
let bobsWords: string;

const api = (as: string, method: string, path: string, json?: object, headers?: Record<string, string>) =>
  askDaemon(daemon, method, `/api${path}`, { as, ...(json && { json }), ...(headers && { headers }) });
const pay = (as: string, json: object, headers?: Record<string, string>) =>
  api(as, 'POST', '/payments/pay', json, headers);
const invoiceOf = async (as: string, amountSats: number, description = 'Tea') => {
  const { body } = await api(as, 'POST', '/payments/invoice', { amountSats, description });
  return body.data.invoice;
};
const balanceOf = async (as: string) => (await api(as, 'GET', '/agents/me/balance')).body.data.balanceSats;
const fill = (as: string, amountSats: number) => givePlayMoney(daemon, as, amountSats);
const invalid = (field: string, sentence: string): Partial<Answer> => ({
  status: 422,
  body: { message: 'The given data was invalid.', errors: { [field]: [sentence] } },
});
const expectSoundLedger = async () => {
  const { body } = await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login });
  expect(body).toMatchObject({ ok: true, problems: [] });
};

/** Owner and Bob have wallets; the owner's is filled. */
beforeAll(async () => {
  daemon = await startDaemon({ config });
  bob = await addPerson(daemon, 'bob');
  await api(daemon.login, 'POST', '/agents/me/wallet', {});
  bobsWords = (await api(bob.login, 'POST', '/agents/me/wallet', {})).body.data.mnemonic;
  await fill(daemon.login, 100_000);
});

afterAll(async () => {
  await daemon.stop();
});

describe('a wallet', () => {
  test('does not exist until it is created, which shows its words once', async () => {
    const { login } = await addPerson(daemon, 'ann');
    expect(await api(login, 'GET', '/agents/me/balance')).toEqual({
      status: 404,
      body: { message: 'Not found.' },
    });
    const none = invalid('wallet', 'You have no wallet yet.');
    expect(await api(login, 'POST', '/payments/invoice', { amountSats: 1 })).toEqual(none);
    const made = await api(login, 'POST', '/agents/me/wallet', {});
    const { wallet, mnemonic, action } = made.body.data;
    expect(action).toBe('created');
    expect(mnemonic.split(' ')).toHaveLength(12);
    expect(wallet).toMatchObject({ id: expect.stringMatching(/^wal_/), backend: 'embedded', balanceSats: 0 });
    const again = await api(login, 'POST', '/agents/me/wallet');
    expect(again.body.data).toEqual({ wallet, action: 'ensured' });
    const balance = (await api(login, 'GET', '/agents/me/balance')).body.data;
    expect(balance).toMatchObject({ walletId: wallet.id, balanceSats: 0, balanceMsats: 0, pendingMsats: 0 });
  });

  test('is imported from its phrase, with the node id of any LDK wallet', async () => {
    const { login } = await addPerson(daemon, 'eve');
    const imported = await api(login, 'POST', '/agents/me/wallet', { mnemonic: ` ${zeros.toUpperCase()}\n` });
    expect(imported.body.data).toMatchObject({ action: 'imported', wallet: { identityPubkey: zerosNode } });
    expect(imported.body.data.mnemonic).toBeUndefined();
    const { paymentRequest } = await invoiceOf(login, 5);
    expect(decodeInvoice(paymentRequest).payee).toBe(zerosNode);
    // Another person cannot take the same wallet.
    const { status } = await api(bob.login, 'POST', '/agents/me/wallet', { mnemonic: zeros });
    expect(status).toBe(409);
  });

  test('rejects a wrong phrase by the position of the word, and changes nothing', async () => {
    const before = await api(bob.login, 'GET', '/agents/me/balance');
    const wrong = zeros.replace('about', 'abuot');
    expect(await api(bob.login, 'POST', '/agents/me/wallet', { mnemonic: wrong })).toEqual(
      invalid('mnemonic', 'Word 12 is not in the BIP 39 word list.'),
    );
    const swapped = await api(bob.login, 'POST', '/agents/me/wallet', { mnemonic: 'abandon '.repeat(12) });
    expect(swapped).toMatchObject({ status: 422, body: { errors: { mnemonic: [expect.any(String)] } } });
    expect(await api(bob.login, 'GET', '/agents/me/balance')).toEqual(before);
  });

  test('with money in it is not replaced', async () => {
    const phrase = `${'zoo '.repeat(11)}wrong`;
    const { status, body } = await api(daemon.login, 'POST', '/agents/me/wallet', { mnemonic: phrase });
    expect(status).toBe(409);
    expect(body.message).toContain('holds money');
  });

  test('gets play money from the faucet only if it is the owner’s', async () => {
    const faucet = (as: string) => api(as, 'POST', '/agents/me/wallet/faucet', { amountSats: 5 });
    const before = await balanceOf(bob.login);
    expect((await faucet(bob.login)).status).toBe(403);
    expect(await balanceOf(bob.login)).toBe(before);
    expect((await faucet(daemon.login)).status).toBe(200);
  });

  test('can be used by keys with the scope billing and tokens with the ability payments', async () => {
    const { secret } = await newToken(daemon, daemon.login, ['payments']);
    const { secret: other } = await newToken(daemon, daemon.login, ['whispers:read']);
    expect(await balanceOf(secret)).toBe(await balanceOf(daemon.login));
    expect((await api(other, 'GET', '/agents/me/balance')).status).toBe(403);
  });

  test('needs an open vault, and is not made half', async () => {
    const sealed = await startDaemon({ config: 'vault: {keychain: false}\n' });
    try {
      const create = () => askDaemon(sealed, 'POST', '/api/agents/me/wallet', { as: sealed.login, json: {} });
      const { status, body } = await create();
      expect(status).toBe(503);
      expect(body.message).toMatch(/vault.*GATEWAY_MASTER_KEY_FILE/s);
      const balance = await askDaemon(sealed, 'GET', '/api/agents/me/balance', { as: sealed.login });
      expect(balance.status).toBe(404);
    } finally {
      await sealed.stop();
    }
  });
});

describe('a payment', () => {
  test('moves money between wallets and gives the proof to the payer alone', async () => {
    const invoice = await invoiceOf(bob.login, 1500, 'Two coffees');
    expect(invoice).toMatchObject({ status: 'open', amountSats: 1500, description: 'Two coffees' });
    const [mine, bobs] = [await balanceOf(daemon.login), await balanceOf(bob.login)];
    const { status, body } = await pay(daemon.login, {
      invoice: `LIGHTNING:${invoice.paymentRequest}`,
      host: 'shop.example',
    });
    expect(status).toBe(200);
    const { payment } = body.data;
    expect(payment).toMatchObject({
      status: 'succeeded',
      quotedAmountMsats: 1_500_000,
      feeMsats: 0,
      host: 'shop.example',
      description: 'Two coffees',
      failureReason: null,
    });
    const preimage = Buffer.from(payment.preimage, 'hex');
    expect(createHash('sha256').update(preimage).digest('hex')).toBe(invoice.paymentHash);
    expect(await balanceOf(daemon.login)).toBe(mine - 1500);
    expect(await balanceOf(bob.login)).toBe(bobs + 1500);
    const received = await api(bob.login, 'GET', `/payments/invoices/${invoice.id}`);
    expect(received.body.data.invoice).toMatchObject({ status: 'paid', receivedMsats: 1_500_000 });
    expect(JSON.stringify(received.body)).not.toContain(payment.preimage);
    const shown = await api(daemon.login, 'GET', `/payments/${payment.paymentId}`);
    expect(shown.body.data.payment).toEqual(payment);
    expect((await api(bob.login, 'GET', `/payments/${payment.paymentId}`)).status).toBe(404);
    const { body: list } = await api(daemon.login, 'GET', '/payments?limit=1');
    expect(list).toEqual({ data: [payment], meta: { nextCursor: payment.paymentId } });
    await expectSoundLedger();
  });

  test('is made at most once, and its answer is replayed for the same Idempotency-Key', async () => {
    const { paymentRequest: invoice } = await invoiceOf(bob.login, 7);
    const before = await balanceOf(daemon.login);
    const key = { 'idempotency-key': 'tea-7' };
    const [first, second] = [
      await pay(daemon.login, { invoice }, key),
      await pay(daemon.login, { invoice }, key),
    ];
    expect(second).toEqual(first);
    const { paymentId } = first.body.data.payment;
    expect(await pay(daemon.login, { invoice })).toEqual({
      status: 409,
      body: { message: `This invoice is already paid: ${paymentId}.` },
    });
    expect(await pay(bob.login, { invoice })).toEqual({
      status: 409,
      body: { message: 'This invoice is already paid.' },
    });
    expect((await pay(daemon.login, { invoice, maxAmountSats: 9 }, key)).status).toBe(409);
    expect(await balanceOf(daemon.login)).toBe(before - 7);
  });

  test('takes no amount that is negative, zero, fractional, huge or not a number', async () => {
    const { paymentRequest: invoice } = await invoiceOf(bob.login, 11);
    const before = [await balanceOf(daemon.login), await balanceOf(bob.login)];
    const endpoints = (amount: unknown): [path: string, body: object][] => [
      ['/payments/invoice', { amountSats: amount }],
      ['/payments/pay', { invoice, maxAmountSats: amount }],
      ['/payments/pay', { invoice, maxAmountMsats: amount }],
      ['/payments/pay', { invoice, timeoutMs: amount }],
      ['/agents/me/wallet/faucet', { amountSats: amount }],
      ['/l402/paywalls', { priceSats: amount, upstream: { url: 'https://example.com' } }],
    ];
    const amounts = [-1, 0, 1.5, -0.1, '11', '11; --', true, [11], {}, 1e19, Number.MAX_SAFE_INTEGER + 1];
    for (const amount of amounts) {
      for (const [path, json] of endpoints(amount)) {
        const { status, body } = await api(daemon.login, 'POST', path, json);
        expect({ amount, path, status }).toEqual({ amount, path, status: 422 });
        const member = Object.keys(json).find((name) => name !== 'invoice' && name !== 'upstream') ?? '';
        expect(Object.keys(body.errors)[0]).toContain(member);
      }
    }
    // Numbers that JSON cannot carry, and those that lose their digits on the way.
    for (const amount of ['NaN', 'Infinity', '1e400', '21e14', '9007199254740993']) {
      const answer = await fetch(`${daemon.url}/api/payments/invoice`, {
        method: 'POST',
        headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
        body: `{"amountSats": ${amount}}`,
      });
      expect([amount, [400, 422].includes(answer.status)]).toEqual([amount, true]);
    }
    expect([await balanceOf(daemon.login), await balanceOf(bob.login)]).toEqual(before);
    await expectSoundLedger();
  });

  test('wins alone against 49 others that need the same money', async () => {
    const carol = await addPerson(daemon, 'carol');
    await api(carol.login, 'POST', '/agents/me/wallet', {});
    await fill(carol.login, 1000);
    const invoices = await Promise.all(Array.from({ length: 50 }, () => invoiceOf(bob.login, 600)));
    const answers = await Promise.all(
      invoices.map(({ paymentRequest }) => pay(carol.login, { invoice: paymentRequest })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(49);
    expect(await balanceOf(carol.login)).toBe(400);
    await expectSoundLedger();
  });

  test('to oneself settles the invoice', async () => {
    const before = await balanceOf(bob.login);
    const { id, paymentRequest } = await invoiceOf(bob.login, 3);
    expect((await pay(bob.login, { invoice: paymentRequest })).status).toBe(200);
    expect((await api(bob.login, 'GET', `/payments/invoices/${id}`)).body.data.invoice.status).toBe('paid');
    expect(await balanceOf(bob.login)).toBe(before);
    await expectSoundLedger();
  });

  test('respects the lower of two maxima', async () => {
    const { paymentRequest: invoice } = await invoiceOf(bob.login, 20);
    expect(await pay(daemon.login, { invoice, maxAmountSats: 19, maxAmountMsats: 20_000 })).toEqual(
      invalid('maxAmountSats', 'The invoice asks for 20 sats, more than the maximum of 19 sats.'),
    );
    expect(await pay(daemon.login, { invoice, maxAmountSats: 20, maxAmountMsats: 19_999 })).toEqual(
      invalid('maxAmountMsats', 'The invoice asks for 20 sats, more than the maximum of 19.999 sats.'),
    );
    expect((await pay(daemon.login, { invoice, maxAmountSats: 20, maxAmountMsats: 20_000 })).status).toBe(
      200,
    );
  });

  test.each([
    ['invoice', { invoice: 'lnbc1tooshort' }],
    ['invoice', {}],
    ['invoice', { invoice: 7 }],
    ['host', { host: 'h'.repeat(256) }],
    ['maxAmountSats', { maxAmountSats: 0 }],
    ['maxAmountSats', { maxAmountSats: 1.5 }],
    ['maxAmountMsats', { maxAmountMsats: 999 }],
    ['maxAmountMsats', { maxAmountMsats: '5000' }],
    ['timeoutMs', { timeoutMs: 999 }],
    ['timeoutMs', { timeoutMs: 120_001 }],
    ['more', { more: true }],
  ])('has bounds: %s', async (field, changes) => {
    const json = { invoice: 'lnbcrt1qqqqqqqqqqqqqqqqqq', ...changes };
    if (Object.keys(changes).length === 0) Reflect.deleteProperty(json, 'invoice');
    const { status, body } = await pay(daemon.login, json);
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toContain(field);
  });

  test('needs an invoice of this host, with an amount', async () => {
    const key = new Uint8Array(32).fill(7);
    const foreign = (changes: Partial<Parameters<typeof encodeInvoice>[0]>) =>
      encodeInvoice(
        {
          network: 'regtest',
          amountMsat: 1000,
          timestamp: Math.floor(Date.now() / 1000),
          paymentHash: new Uint8Array(32).fill(1),
          paymentSecret: new Uint8Array(32),
          description: 'Elsewhere',
          features: [8, 14],
          ...changes,
        },
        key,
      );
    const fault = async (invoice: string) => {
      const { status, body } = await pay(daemon.login, { invoice });
      return { status, sentence: body.errors?.invoice[0] };
    };
    const unreachable = { status: 422, sentence: expect.stringContaining('was not created on this host') };
    expect(await fault(foreign({}))).toEqual(unreachable);
    expect(await fault(foreign({ network: 'bitcoin' }))).toEqual(unreachable);
    expect(await fault(foreign({ amountMsat: null }))).toMatchObject({ sentence: /has no amount/ });
    expect(await fault(foreign({ timestamp: 1_700_000_000 }))).toMatchObject({
      sentence: '`invoice` has expired.',
    });
    const valid = foreign({});
    expect(await fault(`${valid.slice(0, -1)}${valid.endsWith('q') ? 'p' : 'q'}`)).toMatchObject({
      sentence: '`invoice` is not bech32 with a valid checksum.',
    });
    // The hash of a real invoice, for less money.
    const own = await invoiceOf(bob.login, 500);
    const paymentHash = Uint8Array.from(Buffer.from(own.paymentHash, 'hex'));
    expect(await fault(foreign({ paymentHash }))).toMatchObject({ sentence: /is forged/ });
    expect((await api(bob.login, 'GET', `/payments/invoices/${own.id}`)).body.data.invoice.status).toBe(
      'open',
    );
  });

  test('can be checked first', async () => {
    const { paymentRequest: invoice, paymentHash } = await invoiceOf(bob.login, 500, 'Lunch');
    const { body } = await api(daemon.login, 'POST', '/payments/decode', { invoice });
    expect(body.data).toMatchObject({
      amountMsats: 500_000,
      amountSats: 500,
      maxFeeMsats: 0,
      description: 'Lunch',
      network: 'regtest',
      paymentHash,
      problem: null,
    });
    const dear = await invoiceOf(bob.login, 90_000_000_000);
    const { body: quote } = await api(daemon.login, 'POST', '/payments/decode', {
      invoice: dear.paymentRequest,
    });
    expect(quote.data.problem).toMatch(/needs up to 90,000,000,000 sats/);
    await pay(daemon.login, { invoice });
    const { body: paid } = await api(bob.login, 'POST', '/payments/decode', { invoice });
    expect(paid.data).toMatchObject({ maxFeeMsats: 0, problem: 'This invoice is already paid.' });
  });

  test('has to declare one of the configured hosts, if there are any', async () => {
    const strict = await startDaemon({
      config: `${config}wallet: {declared_hosts: [shop.example, "*.pay.example"]}\n`,
    });
    try {
      const ask = (path: string, json: object) =>
        askDaemon(strict, 'POST', `/api${path}`, { as: strict.login, json });
      await ask('/agents/me/wallet', {});
      await ask('/agents/me/wallet/faucet', { amountSats: 100 });
      const { body } = await ask('/payments/invoice', { amountSats: 1 });
      const invoice = body.data.invoice.paymentRequest;
      for (const host of [
        undefined,
        'evil.example',
        'pay.example',
        'notpay.example',
        'shop.example.evil.example',
      ]) {
        const refused = await ask('/payments/pay', { invoice, host });
        expect(refused).toMatchObject({ status: 422, body: { errors: { host: [expect.any(String)] } } });
      }
      expect((await ask('/payments/pay', { invoice, host: 'Eu.Pay.example' })).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});

describe('the commands', () => {
  const cli = (login: string, args: string[], options: RunOptions = {}) =>
    runCli(args, { ...options, env: { GATEWAY_HOME: daemon.home, GATEWAY_KEY: login } });

  test('create an invoice and pay it in a pipe, up to a maximum', async () => {
    const created = await cli(bob.login, ['invoice', 'create', '250', '--description', 'Cake', '--json']);
    const { id, paymentRequest } = JSON.parse(created.stdout);
    const pipe = { stdin: '' };
    expect(await cli(daemon.login, ['pay', paymentRequest], pipe)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--max-sats is required'),
    });
    expect(await cli(daemon.login, ['pay', paymentRequest, '--max-sats', '249'], pipe)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/more than the maximum of 249 sats[\s\S]*raise --max-sats/),
    });
    const paid = await cli(daemon.login, ['pay', paymentRequest, '--max-sats', '250', '--json=status'], pipe);
    expect(paid).toMatchObject({ code: 0, stdout: expect.stringContaining('succeeded') });
    expect((await cli(bob.login, ['invoice', 'show', id, '--json=status'])).stdout).toContain('paid');
    const dear = await cli(bob.login, ['invoice', 'create', '90000000', '--quiet']);
    const broke = await cli(daemon.login, ['pay', dear.stdout.trim(), '--max-sats', '90000000'], pipe);
    expect(broke).toMatchObject({ code: 5, stderr: expect.stringContaining('gateway invoice create') });
  });

  test('ask on a terminal, after showing what would be paid', async () => {
    const created = await cli(bob.login, ['invoice', 'create', '40', '--description', 'Tea'], { tty: true });
    expect(created.stdout).toMatch(/[▀▄█]{5}/);
    const [invoice = ''] = /lnbcrt\w+/.exec(created.stdout.replaceAll(/\s*\n\s+(?=\w+\n)/g, '')) ?? [];
    const before = await balanceOf(daemon.login);
    const declined = await cli(daemon.login, ['pay', invoice], { tty: true, typed: ['n'] });
    expect(declined.stderr).toMatch(
      /amount +40 sats\nfee +none\nfor +Tea\npayee +0[23]\w{64}\nnetwork +regtest/,
    );
    expect(declined.code).toBe(1);
    expect(await balanceOf(daemon.login)).toBe(before);
    const paid = await cli(daemon.login, ['pay', invoice], { tty: true, typed: ['y'] });
    expect(paid).toMatchObject({ code: 0, stdout: expect.stringMatching(/40 sats/) });
    expect(await balanceOf(daemon.login)).toBe(before - 40);
  });

  test('pay what a BIP 21 URI contains, over the amount that it states, and nothing else', async () => {
    const { paymentRequest } = await invoiceOf(bob.login, 30);
    const before = await balanceOf(daemon.login);
    const refused: [destination: string, sentence: string][] = [
      [
        `bitcoin:bcrt1q?amount=0.00000031&lightning=${paymentRequest}`,
        'states another amount than its invoice',
      ],
      ['bitcoin:bcrt1q?amount=0.0000003', 'has no Lightning invoice'],
      ['four words of text', '<destination> is not a Lightning invoice'],
      ['me@localhost', 'which is a private address'],
    ];
    for (const [destination, sentence] of refused) {
      const { code, stderr } = await cli(daemon.login, ['pay', destination, '--max-sats', '100']);
      expect({ destination, code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(sentence),
      });
    }
    const other = await cli(daemon.login, ['pay', paymentRequest, '--sats', '31', '--max-sats', '100']);
    expect(other.stderr).toContain('--sats differs from the invoice, which asks for 30 sats');
    expect(await balanceOf(daemon.login)).toBe(before);
    const uri = `BITCOIN:BCRT1Q?AMOUNT=0.0000003&LIGHTNING=${paymentRequest.toUpperCase()}`;
    expect(await cli(daemon.login, ['pay', uri, '--max-sats', '30'])).toMatchObject({ code: 0 });
    expect(await balanceOf(daemon.login)).toBe(before - 30);
  });

  test('import a wallet from a pipe, and show its balance', async () => {
    const { login } = await addPerson(daemon, 'dan');
    const stdin = `${'legal winner thank year wave sausage worth useful legal winner thank yellow'}\n`;
    const imported = await cli(login, ['wallet', 'import', '--json=action'], { stdin });
    expect(imported.stdout).toContain('imported');
    await fill(login, 1234);
    const balance = await cli(login, ['wallet', 'balance'], { tty: true });
    expect(balance.stdout).toContain('1,234 sats');
    // One unit wherever a program reads an amount without its name.
    const { stdout } = await cli(login, ['wallet', 'balance']);
    expect(stdout).toMatch(/^balance_msats\t1234000\npending_msats\t0\n/);
    await cli(login, ['invoice', 'create', '5']);
    expect((await cli(login, ['invoice', 'list'])).stdout.split('\n')[0]?.split('\t')).toContain('5000');
  });
});

test('no phrase, preimage or key is stored, logged or backed up in clear', async () => {
  const { paymentRequest: invoice } = await invoiceOf(bob.login, 9);
  const { body } = await pay(daemon.login, { invoice }, { 'idempotency-key': 'canary' });
  const { preimage } = body.data.payment;
  const backup = await runCli(['backup', '--quiet'], { env: { GATEWAY_HOME: daemon.home } });
  expect(backup.code).toBe(0);
  const secrets = [preimage, Buffer.from(preimage, 'hex').toString('latin1'), bobsWords, zeros];
  const files = await readdir(daemon.home, { recursive: true, withFileTypes: true });
  let read = 0;
  for (const file of files.filter((each) => each.isFile())) {
    const text = await readFile(join(file.parentPath, file.name), 'latin1');
    read += 1;
    for (const secret of secrets) expect(text.includes(secret), file.name).toBe(false);
  }
  expect(read).toBeGreaterThan(3);
  const { stdout, stderr } = daemon.printed();
  for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
});
