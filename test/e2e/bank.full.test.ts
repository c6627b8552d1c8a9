import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { lndMacaroon, startFakeLnd } from '../support/lightning/fake-lnd.ts';
import type { FakeNode } from '../support/lightning/fake-node.ts';
import { byCredential, offersIn, paymentsConfig } from '../support/paid-calls.ts';
import { Random } from '../support/random.ts';
import { localhostCertificate } from '../support/test-certificate.ts';
import { type Answer, addPerson, askDaemon } from '../support/users.ts';

/** For a night: `OPERATIONS=10000 KILLS=100`, with another `FUZZ_SEED` each time. */
const operations = Number(process.env.OPERATIONS ?? 150);
const kills = Number(process.env.KILLS ?? 2);
const seed = Number(process.env.FUZZ_SEED ?? 20_260_401);
const workers = 8;
const usersCount = 3;
/** A satoshi is a tenth of a cent. */
const nanoUsdPerSat = 1_000_000;
const minuteMs = 60_000;
/** A connection that is kept alive may be closed by the daemon just when the next request is sent. */
const once = { connection: 'close' };

interface User {
  login: string;
  /** A key of the user's own, prepaid workspace; the owner has none. */
  key?: string;
  workspace: string;
}

interface KnownInvoice {
  text: string;
  hash: string;
  sats: number;
  owner: User;
}

const nano = (usd: string) => Math.round(Number(usd) * 1e9);
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A bank under load whose process is killed again and again, and what its customers know of their money. */
class Bank {
  readonly #random: Random;
  readonly #options: { config: string; env: Record<string, string> };
  readonly node: FakeNode | undefined;
  daemon!: ChildDaemon;
  owner!: User;
  users: User[] = [];
  /** Undefined while the daemon runs. */
  #down: Promise<void> | undefined;
  #epoch = 0;
  #clockAheadMs = 0;
  #done = 0;
  #keys = 0;
  readonly #invoices: KnownInvoice[] = [];
  /** Satoshis from the faucet: those that were confirmed, and those of requests that broke off. */
  readonly faucet = { confirmed: 0, doubtful: 0 };
  /** The payment of each invoice that a payer was told of. */
  readonly paid = new Map<string, { payment: string; payer: User }>();
  /** Nano-dollars, by workspace. */
  readonly granted = new Map<string, number>();
  readonly bought = new Map<string, number>();
  readonly spent = new Map<string, number>();
  /** Paid calls whose answer is not known. */
  readonly #open: { user: User; body: object; headers: Record<string, string> }[] = [];

  constructor(random: Random, options: { config: string; env: Record<string, string>; node?: FakeNode }) {
    this.#random = random;
    this.#options = options;
    this.node = options.node;
  }

  async start(): Promise<void> {
    this.daemon = await startChildDaemon(this.#options);
    closing.push(() => this.daemon.remove());
    this.owner = { login: this.daemon.login, workspace: 'me' };
    await this.#ask(this.owner, '/api/agents/me/wallet', {});
    if (this.node) await this.#ask(this.owner, '/v1/admin/wallet-backend/fund', { amount_sats: 900_000 });
    else await this.#takeFromFaucet(900_000);
    for (let index = 0; index < usersCount; index += 1) {
      const { login, workspace } = await addPerson(this.daemon, `user-${index}`);
      const scopes = ['responses', 'billing', 'usage:read'];
      const issued = await askDaemon(this.daemon, 'POST', '/v1/workspaces/me/keys', {
        as: login,
        json: { scopes },
      });
      const user = { login, workspace, key: issued.body.secret as string };
      this.users.push(user);
      await this.#ask(user, '/api/agents/me/wallet', {});
      await this.#pay(this.owner, await this.#newInvoice(user, 200_000));
    }
  }

  /** Runs operations on several connections at once, and kills the daemon in between. */
  async run(count: number, killCount: number): Promise<void> {
    let started = 0;
    let left = killCount;
    let nextKill = this.#killAfter(count, left);
    const work = async () => {
      while (started < count) {
        started += 1;
        await this.#down;
        await this.#operation().catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
        });
        this.#done += 1;
        if (left > 0 && this.#done >= nextKill && !this.#down) {
          left -= 1;
          nextKill = this.#killAfter(count, left);
          void this.kill();
        }
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
    await this.#down;
  }

  #killAfter(count: number, left: number): number {
    return this.#done + Math.floor((count - this.#done) / (left + 1)) - this.#random.below(10);
  }

  /** Kills the daemon and starts it again, a while later by its own clock. Rejects if money is missing then. */
  kill(aheadMs = this.#random.chance(0.4) ? this.#random.below(15 * minuteMs) : 0): Promise<void> {
    this.#down = (async () => {
      this.daemon.signal('SIGKILL');
      await this.daemon.ended;
      // A node has a clock of its own, by which it tells when payments were sent.
      if (!this.node) this.#clockAheadMs += aheadMs;
      const env = { ...this.#options.env, CLOCK_AHEAD_MS: String(this.#clockAheadMs) };
      this.daemon = await startChildDaemon({ home: this.daemon.home, env });
      this.#epoch += 1;
      await this.audit();
    })().finally(() => {
      this.#down = undefined;
    });
    return this.#down;
  }

  /** What has to hold at any time at which no operation is running. */
  async audit(): Promise<void> {
    const verified = await this.#look(this.owner, '/v1/admin/ledger/verify', 'POST');
    expect(verified).toMatchObject({ ok: true, problems: [] });
    let held = 0;
    for (const user of [this.owner, ...this.users]) {
      const { balanceMsats, pendingMsats } = (await this.#look(user, '/api/agents/me/balance')).data;
      expect(balanceMsats).toBeGreaterThanOrEqual(0);
      expect(pendingMsats).toBeGreaterThanOrEqual(0);
      held += (balanceMsats + pendingMsats) / 1000;
    }
    if (!this.node) {
      expect(held).toBeGreaterThanOrEqual(this.faucet.confirmed);
      expect(held).toBeLessThanOrEqual(this.faucet.confirmed + this.faucet.doubtful);
    }
    for (const { payment, payer } of [...this.paid.values()].slice(-20)) {
      const { data } = await this.#look(payer, `/api/payments/${payment}`);
      expect(data.payment.status).toBe('succeeded');
    }
    for (const account of (await this.#look(this.owner, '/v1/admin/credit')).data) {
      if (account.billing !== 'prepaid') continue;
      expect(nano(account.balance_usd)).toBeGreaterThanOrEqual(0);
      expect(account.held_usd).toBe('0');
      expect(nano(account.spent_usd)).toBeGreaterThanOrEqual(this.spent.get(account.workspace) ?? 0);
    }
  }

  /** Repeats what broke off until its result is known, lets every invoice expire, and compares all sums. */
  async close(): Promise<void> {
    for (const { user, body, headers } of this.#open.splice(0)) await this.#settleCall(user, body, headers);
    this.#endHeld();
    await this.kill(120 * minuteMs);
    const database = new Database(join(this.daemon.home, 'gateway.db'), { readonly: true });
    closing.push(async () => database.close());
    const count = (sql: string) => database.prepare<[], number>(sql).pluck().get() ?? 0;
    const unredeemed = `SELECT count(*) FROM payment_challenges c JOIN invoices i ON i.id = c.invoice_id
      WHERE i.state = 'paid' AND c.used_at IS NULL`;
    // Each invoice of a node expires an hour after it was issued, so its proofs are settled above.
    if (!this.node) await eventually('every payment is used or became credit', () => count(unredeemed) === 0);
    const pending = database.prepare<[], { hash: string; createdAt: number }>(
      "SELECT payment_hash AS hash, created_at AS createdAt FROM payments WHERE state = 'pending'",
    );
    // What a killed daemon did not send stays pending, as nobody can tell that it will never be: what the node may know of its
    // invoice is an earlier attempt. LND reports in which second that started.
    const isKnown = ({ hash, createdAt }: { hash: string; createdAt: number }) =>
      (this.node?.outgoing.get(hash)?.startedAt ?? 0) >= Math.floor(createdAt / 1000) * 1000;
    const isFollowed = () => !pending.all().some(isKnown);
    await eventually('every payment that the node knows has ended', isFollowed);
    // They are looked up one after the other, the latest last.
    const credited = database
      .prepare<[], string>("SELECT payment_hash FROM invoices WHERE state = 'paid'")
      .pluck();
    const isCredited = () => {
      const known = new Set(credited.all());
      return (this.node ? outsidePayments(this.node).received : []).every(({ paymentHash }) =>
        known.has(paymentHash),
      );
    };
    await eventually('every payment that the node received is credited', isCredited, {
      withinMs: 60_000 + operations * 10,
    });
    await this.audit();
    const { data } = await this.#look(this.owner, '/v1/admin/credit');
    for (const { workspace } of this.users) {
      const account = data.find((each: { workspace: string }) => each.workspace === workspace);
      expect(nano(account.granted_usd)).toBe(this.granted.get(workspace) ?? 0);
      if (!this.node) expect(nano(account.bought_usd)).toBe(this.bought.get(workspace) ?? 0);
    }
    if (this.node) this.#compareWithNode(this.node, count);
  }

  /** The wallets hold what the node was funded with and received, less what it sent. */
  #compareWithNode(node: FakeNode, count: (sql: string) => number): void {
    const { sent, received } = outsidePayments(node);
    const moved =
      received.reduce((sum, { amountMsat }) => sum + amountMsat, 0) -
      sent.reduce((sum, { amountMsat, feeMsat }) => sum + amountMsat + feeMsat, 0);
    const held = "SELECT sum(balance) FROM accounts WHERE id GLOB 'msat:wallet:*' OR id = 'msat:in-flight'";
    expect(count(held)).toBe(900_000_000 + moved);
  }

  lacksOutsidePayments(): boolean {
    if (!this.node) return false;
    const { sent, received } = outsidePayments(this.node);
    return sent.length === 0 || received.length === 0;
  }

  /** Ends payments that the node holds, each in its own way. */
  #endHeld(): void {
    for (const invoice of this.node?.held() ?? [])
      this.node?.end(invoice, this.#random.chance(0.5) ? 'succeeded' : 'failed');
  }

  /** Sends something to the daemon. Rejects with `Killed` if a kill broke it off, or comes first. */
  async #send<T>(send: () => Promise<T>): Promise<T> {
    if (this.#down) throw new Killed();
    const epoch = this.#epoch;
    try {
      return await send();
    } catch (error) {
      throw epoch === this.#epoch && !this.#down ? error : new Killed();
    }
  }

  /** Repeats what a kill broke off, once the daemon is up again; it must be safe to repeat. */
  async #repeated<T>(send: () => Promise<T>): Promise<{ result: T; isRepeated: boolean }> {
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        return { result: await send(), isRepeated };
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        await this.#down;
      }
    }
  }

  async #operation(): Promise<void> {
    const random = this.#random;
    const user = random.of(this.users);
    const operation = random.weighted<() => Promise<unknown>>([
      [12, () => this.#newInvoice(random.of([this.owner, ...this.users]), 1 + random.below(300))],
      [20, () => this.#payKnown(random.of([this.owner, ...this.users]))],
      [5, () => this.#payTogether()],
      [4, async () => this.#pay(user, await this.#newInvoice(this.owner, 100_000_000))],
      [5, () => (this.node ? this.#receive(user) : this.#takeFromFaucet(1 + random.below(1000)))],
      [this.node ? 12 : 0, () => this.#payOutside(random.of([this.owner, ...this.users]))],
      [6, () => this.#grant(user)],
      [18, () => this.#call(user, this.#body(50 + random.below(200)))],
      [18, () => this.#paidCall(user)],
      [5, () => this.#buyCredit(user)],
    ]);
    await operation();
  }

  /** A request for an audit, while nothing else is sent. */
  async #look(user: User, path: string, method = 'GET'): Promise<Answer['body']> {
    return (await askDaemon(this.daemon, method, path, { as: user.login, headers: once })).body;
  }

  #ask(user: User, path: string, json: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(() =>
      askDaemon(this.daemon, 'POST', path, { as: user.login, json, headers: { ...once, ...headers } }),
    );
  }

  async #newInvoice(owner: User, amountSats: number): Promise<KnownInvoice> {
    const { status, body } = await this.#ask(owner, '/api/payments/invoice', { amountSats });
    expect(status, JSON.stringify(body)).toBe(200);
    const { paymentRequest: text, paymentHash: hash } = body.data.invoice;
    const invoice = { text, hash, sats: amountSats, owner };
    this.#invoices.push(invoice);
    if (this.#invoices.length > 200) this.#invoices.shift();
    return invoice;
  }

  /** Pays, and once more with the same key if the answer was lost. Resolves to whether it was paid by this payment. */
  async #pay(payer: User, { text, hash }: Pick<KnownInvoice, 'text' | 'hash'>): Promise<string | undefined> {
    this.#keys += 1;
    const key = { 'idempotency-key': `pay-${this.#keys}` };
    const json = { invoice: text, timeoutMs: 1000 };
    const { result, isRepeated } = await this.#repeated(() =>
      this.#ask(payer, '/api/payments/pay', json, key),
    );
    const { status, body } = result;
    expect([200, 402, 409, 422], JSON.stringify(body)).toContain(status);
    // The payment may have been stored without its answer; the refusal of the second names it to its payer.
    const [, own] = (isRepeated && /: (pay_\w+)\.$/.exec(body.message)) || [];
    const payment = own ? await this.#payment(payer, own) : body.data?.payment;
    if (payment?.status !== 'succeeded') return undefined;
    const { paymentId, preimage } = payment;
    expect(this.paid.get(hash)?.payment ?? paymentId).toBe(paymentId);
    this.paid.set(hash, { payment: paymentId, payer });
    return preimage;
  }

  async #payment(payer: User, id: string) {
    const read = () => this.#send(() => this.#look(payer, `/api/payments/${id}`));
    return (await this.#repeated(read)).result.data.payment;
  }

  async #payKnown(payer: User): Promise<void> {
    if (this.#invoices.length > 0) await this.#pay(payer, this.#random.of(this.#invoices));
  }

  /** Everybody pays the same invoice. */
  async #payTogether(): Promise<void> {
    const invoice = await this.#newInvoice(this.owner, 1 + this.#random.below(50));
    const paid = await Promise.all([this.owner, ...this.users].map((payer) => this.#pay(payer, invoice)));
    expect(paid.filter((preimage) => preimage !== undefined).length).toBeLessThanOrEqual(1);
  }

  async #takeFromFaucet(amountSats: number): Promise<void> {
    this.faucet.doubtful += amountSats;
    const { status } = await this.#ask(this.owner, '/api/agents/me/wallet/faucet', { amountSats });
    expect(status).toBe(200);
    this.faucet.doubtful -= amountSats;
    this.faucet.confirmed += amountSats;
  }

  /** Another node pays an invoice. */
  async #receive(user: User): Promise<void> {
    const { text } = await this.#newInvoice(user, 1 + this.#random.below(500));
    // Somebody of the host may have paid it, and cancelled it at the node, meanwhile.
    if (this.node?.isOpen(text)) this.node.receive(text);
  }

  /** Pays another node, which succeeds, fails, holds the payment or breaks the connection. */
  async #payOutside(payer: User): Promise<void> {
    const node = this.node as FakeNode;
    node.next(this.#random.of(['succeed', 'succeed', 'fail', 'hold', 'vanish']));
    const text = node.foreignInvoice((1 + this.#random.below(400)) * 1000);
    const payment = this.#pay(payer, { text, hash: text });
    if (this.#random.chance(0.3)) this.#endHeld();
    await payment;
    if (this.#random.chance(0.5)) await this.#pay(this.#random.of(this.users), { text, hash: text });
  }

  async #grant({ workspace }: User): Promise<void> {
    this.#keys += 1;
    const usd = (1 + this.#random.below(20)) / 1000;
    const json = { workspace, usd: String(usd), reference: `grant-${this.#keys}` };
    const { result } = await this.#repeated(() => this.#ask(this.owner, '/v1/admin/credit', json));
    expect(result.status).toBe(200);
    add(this.granted, workspace, nano(String(usd)));
  }

  #body(maxOutputTokens: number): object {
    this.#keys += 1;
    const outcome = this.#random.weighted([
      [6, 'answer'],
      [1, 'refuse'],
      [1, 'break'],
    ]);
    const model = 'fake/large';
    const terms = { max_output_tokens: maxOutputTokens, store: false, stream: this.#random.chance(0.4) };
    return { model, input: `${outcome} ${this.#keys}`, ...terms };
  }

  /** One call, which the client may leave. */
  #call({ key = '', workspace }: User, body: object, headers: Record<string, string> = {}) {
    const leaves = this.#random.chance(0.1);
    return this.#send(async () => {
      const leaving = new AbortController();
      const answer = await fetch(`${this.daemon.url}/v1/responses`, {
        method: 'POST',
        headers: { ...once, 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
        signal: leaving.signal,
      });
      const { status } = answer;
      if (leaves && status === 200) {
        leaving.abort();
        return { status, headers: answer.headers };
      }
      const text = await answer.text();
      expect([200, 402, 429, 500, 502, 503], text).toContain(status);
      const cost = answer.headers.get('x-service-cost-usd');
      if (status === 200 && cost !== null) add(this.spent, workspace, nano(cost));
      return { status, headers: answer.headers, error: status === 200 ? undefined : JSON.parse(text).error };
    });
  }

  /** A call that the balance may not cover, and what clients do with its invoice. */
  async #paidCall(user: User): Promise<void> {
    const random = this.#random;
    const body = this.#body(20_000 + random.below(20_000));
    const { status, headers, error } = await this.#call(user, body);
    if (status !== 402 || error?.pay?.invoice === undefined) return;
    if (random.chance(0.1)) return;
    const { challenge } = offersIn(headers);
    const { invoice: text, payment_hash: hash, amount_sats: sats } = error.pay;
    const preimage = await this.#pay(random.of(this.users), { text, hash });
    if (preimage === undefined) return;
    add(this.bought, user.workspace, sats * nanoUsdPerSat);
    const proof = byCredential(challenge, preimage);
    const retry = { user, body, headers: proof };
    switch (
      random.weighted([
        [5, 'now'],
        [2, 'together'],
        [1, 'for another call'],
        [1, 'never'],
        [2, 'later'],
      ])
    ) {
      case 'now':
        return await this.#settleCall(user, body, proof);
      case 'together': {
        const both = await Promise.all([1, 2].map(() => this.#callOrLater(retry)));
        const accepted = both.filter((answer) => answer && answer.error?.reason === undefined);
        expect(accepted.length).toBeLessThanOrEqual(1);
        return;
      }
      case 'for another call': {
        const answer = await this.#callOrLater({ ...retry, body: { ...body, input: 'Another.' } });
        if (answer) expect(answer.error?.reason).toMatch(/^(request_mismatch|expired)$/);
        return;
      }
      case 'later':
        this.#open.push(retry);
    }
  }

  /** One retry; undefined if the daemon was killed meanwhile, and it is to be made again. */
  async #callOrLater(retry: { user: User; body: object; headers: Record<string, string> }) {
    try {
      return await this.#call(retry.user, retry.body, retry.headers);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.#open.push(retry);
      return undefined;
    }
  }

  /** Sends a proof until there is an answer: the call is made, or the payment was credited before. */
  async #settleCall(user: User, body: object, headers: Record<string, string>): Promise<void> {
    const answer = await this.#callOrLater({ user, body, headers });
    const reason = answer?.error?.reason;
    if (reason !== undefined) expect(reason).toMatch(/^(already_used|expired|request_mismatch)$/);
  }

  async #buyCredit(user: User): Promise<void> {
    const { status, body } = await this.#ask(user, '/v1/credit/purchases', {
      sats: 1 + this.#random.below(50),
    });
    if (status === 429) return;
    expect(status, JSON.stringify(body)).toBe(200);
    const paid = await this.#pay(user, { text: body.invoice, hash: body.payment_hash });
    if (paid !== undefined) add(this.bought, user.workspace, body.amount_sats * nanoUsdPerSat);
  }
}

/** What a node sent to others, and received from them. */
function outsidePayments(node: FakeNode) {
  return {
    sent: [...node.outgoing.values()].filter(({ state }) => state === 'succeeded'),
    received: [...node.incoming.values()].filter(({ state }) => state === 'paid'),
  };
}

/** A kill broke a request off. */
class Killed extends Error {}

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}

/** A provider that answers, refuses or breaks off, as the prompt says. */
async function startProvider() {
  const provider = await startFakeOpenAi();
  closing.push(() => provider.close());
  provider.always(({ body }) => {
    const prompt = JSON.stringify(body?.input);
    if (prompt.includes('refuse')) return { error: { status: 500, message: 'Try later.' } };
    if (prompt.includes('break')) return { breakAfter: { events: 3, by: 'cut' } };
    return { text: 'Some words.', usage: { input: 10, output: 40 } };
  });
  return provider;
}

async function openBank(backend: 'embedded' | 'lnd'): Promise<Bank> {
  const provider = await startProvider();
  const config = `${paymentsConfig}log: {level: error}
payments: {usd_per_btc: "100000"}
upstreams: [{name: fake, base_url: "${provider.baseUrl}", key_env: FAKE_KEY, models: [large], wire: responses, prices: {input: "1", output: "10"}}]
`;
  const env = { FAKE_KEY: 'sk-fake' };
  const random = new Random(seed);
  if (backend === 'embedded') return new Bank(random, { config, env });
  const lnd = await startFakeLnd();
  closing.push(() => lnd.close());
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bank-'));
  closing.push(() => rm(folder, { recursive: true }));
  const certificate = join(folder, 'tls.cert');
  await writeFile(certificate, localhostCertificate.cert);
  return new Bank(random, {
    config: `${config}wallet: {backend: lnd, network: regtest, url: "${lnd.url}", certificate_file: "${certificate}"}\n`,
    env: { ...env, GATEWAY_WALLET_SECRET: lndMacaroon },
    node: lnd.node,
  });
}

test.each([
  ['play money', 'embedded', 2 / 3],
  ['a Lightning node', 'lnd', 1 / 3],
] as const)(
  'a bank with %s loses and creates nothing, however often it is killed',
  { timeout: 300_000 + operations * 400 },
  async (_money, backend, share) => {
    const bank = await openBank(backend);
    await bank.start();
    await bank.run(Math.ceil(operations * share), Math.ceil(kills * share));
    // Until payments, paid calls, answers that cost something, and payments to and from other nodes happened.
    const lacks = () => [bank.paid, bank.bought, bank.spent, bank.granted].some(({ size }) => size === 0);
    while (lacks() || bank.lacksOutsidePayments()) await bank.run(workers, 0);
    await bank.close();
  },
);
