/**
 * A bank whose customers use three daemons on one database at random, while daemons are killed and frozen, connections to the server
 * are cut, and the server is restarted: `npm run long -- bank [MINUTES]`. At half-time its synchronous standby takes over. No money
 * appears or is lost, and what a customer was told is never taken back.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { answers, words } from '../support/chaos-behaviours.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { Checks, numberArgument, printFigures } from '../support/long-run.ts';
import { startPostgres } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { type Answer, type AskOptions, addPerson, askDaemon } from '../support/users.ts';

const minutes = numberArgument(10);
const customers = 12;
const tellers = 8;
const outputTokens = 50;
const price = outputTokens * 2000;
const nemesisEveryMs = 8000;

interface Customer {
  login: string;
  key: string;
  workspace: string;
  /** What answers said, in nano-dollars. */
  granted: number;
  charged: number;
}

const checks = new Checks();
const random = new Random(Date.now() % 2 ** 32);
let server = await startPostgres({ isDurable: true, hasTcp: true });
const standby = await startPostgres({ isDurable: true, hasTcp: true, standbyOf: server });
await server.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
await server.query('SELECT pg_reload_conf()');
const chaos = await startChaosUpstream(answers({ text: words, usage: { input: 10, output: outputTokens } }));
const links: FaultProxy[] = await Promise.all([0, 1, 2].map(() => startFaultProxy(server.url())));
const several = await SeveralDaemons.start(server, {
  count: links.length,
  reach: (url, at) => links[at]?.through(url) ?? url,
  config: `vault: {keychain: false}
upstreams: [{name: fake, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "0", output: "2"}}]\n`,
});
const { login: owner } = several.daemon(0);
const counts = new Map<string, number>();
const tally = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
const nano = (usd: unknown) => Math.round(Number(usd) * 1e9);
let references = 0;
const faucet = { confirmed: 0, doubtful: 0 };

/** An answer of a random daemon; undefined if there was none, or the daemon cannot answer now. */
async function ask(method: string, path: string, options: AskOptions): Promise<Answer | undefined> {
  const at = random.of(several.daemons);
  try {
    const answer = await Promise.race([askDaemon(at, method, path, options), wait(30_000, undefined)]);
    if (answer && answer.status < 500) return answer;
    tally(answer ? `${answer.status}` : 'no answer');
  } catch {
    tally('no connection');
  }
  return undefined;
}

/** Repeats a request that may be repeated, until it is answered. */
async function answerTo(method: string, path: string, options: AskOptions): Promise<Answer> {
  for (;;) {
    const answer = await ask(method, path, options);
    if (answer) return answer;
    await wait(200);
  }
}

async function grant(customer: Customer, usd: string): Promise<void> {
  references += 1;
  const json = { workspace: customer.workspace, usd, reference: `grant-${references}` };
  const { status, body } = await answerTo('POST', '/v1/admin/credit', { as: owner, json });
  checks.check(status === 200, `a grant: ${status} ${JSON.stringify(body)}`);
  customer.granted += nano(usd);
}

async function call(customer: Customer): Promise<void> {
  const json = {
    model: 'fake/any',
    messages: [{ role: 'user', content: 'Hi' }],
    max_completion_tokens: outputTokens,
  };
  const answer = await ask('POST', '/v1/chat/completions', { as: customer.key, json });
  if (answer?.status === 200) customer.charged += price;
  else if (answer && answer.status !== 402)
    checks.check(false, `a call: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function pay(from: Customer, to: Customer): Promise<void> {
  const amountSats = 1 + random.below(20);
  const made = await ask('POST', '/api/payments/invoice', { as: to.login, json: { amountSats } });
  if (made?.status !== 200) return;
  references += 1;
  const { status, body } = await answerTo('POST', '/api/payments/pay', {
    as: from.login,
    json: { invoice: made.body.data.invoice.paymentRequest, timeoutMs: 1000 },
    headers: { 'idempotency-key': `pay-${references}` },
  });
  checks.check([200, 402, 409, 422].includes(status), `a payment: ${status} ${JSON.stringify(body)}`);
  tally(`payment ${status}`);
}

/** What was said before must be in what is said now, by whichever daemon. */
async function look(): Promise<void> {
  const before = everybody.map(({ workspace, granted, charged }) => ({ workspace, granted, charged }));
  const answer = await ask('GET', '/v1/admin/credit', { as: owner });
  if (answer?.status !== 200) return;
  for (const { workspace, granted, charged } of before) {
    const account = answer.body.data.find((each: { workspace: string }) => each.workspace === workspace);
    const balance = nano(account.balance_usd);
    checks.check(nano(account.granted_usd) >= granted, `${workspace}: a grant is missing`);
    checks.check(nano(account.spent_usd) >= charged, `${workspace}: a charge is missing`);
    checks.check(balance >= 0, `${workspace}: the balance is ${balance}`);
  }
}

const everybody: Customer[] = [];
for (let at = 0; at < customers; at += 1) {
  const { login, workspace } = await addPerson(several.daemon(0), `customer-${at}`);
  const issued = await askDaemon(several.daemon(0), 'POST', '/v1/workspaces/me/keys', {
    as: login,
    json: {},
  });
  const customer = { login, workspace, key: issued.body.secret as string, granted: 0, charged: 0 };
  everybody.push(customer);
  await answerTo('POST', '/api/agents/me/wallet', { as: login, json: {} });
  await grant(customer, '0.001');
}
await answerTo('POST', '/api/agents/me/wallet', { as: owner, json: {} });

async function fillWallet(): Promise<void> {
  const amountSats = 1000;
  faucet.doubtful += amountSats;
  const answer = await ask('POST', '/api/agents/me/wallet/faucet', { as: owner, json: { amountSats } });
  if (answer?.status !== 200) return;
  faucet.doubtful -= amountSats;
  faucet.confirmed += amountSats;
  await pay({ login: owner } as Customer, random.of(everybody));
}

let isOver = false;
async function teller(): Promise<void> {
  while (!isOver) {
    const customer = random.of(everybody);
    await random.weighted<() => Promise<void>>([
      [40, () => call(customer)],
      [10, () => grant(customer, ((1 + random.below(20)) / 10_000).toFixed(4))],
      [15, () => pay(customer, random.of(everybody))],
      [5, fillWallet],
      [10, look],
    ])();
  }
}

/** One thing goes wrong, and is over when this resolves. */
async function nemesis(): Promise<void> {
  const at = random.below(several.daemons.length);
  const daemon = several.daemon(at);
  const link = links[at] as FaultProxy;
  const restart = async () => {
    daemon.signal('SIGKILL');
    await daemon.ended;
    await several.restart(at);
  };
  // One that ends later is started again after the last fault.
  const restartIfEnded = async () => {
    const hasEnded = await Promise.race([daemon.ended.then(() => true), wait(6000, false)]);
    if (hasEnded) await several.restart(at);
  };
  const [what, harm] = random.of<[string, () => Promise<unknown>]>([
    ['killed', restart],
    [
      'killed and away',
      async () => {
        daemon.signal('SIGKILL');
        await wait(random.below(20_000));
        await restart();
      },
    ],
    [
      'frozen',
      async () => {
        daemon.signal('SIGSTOP');
        await wait(1000 + random.below(18_000));
        daemon.signal('SIGCONT');
        await restartIfEnded();
      },
    ],
    ['cut off', async () => link.cut()],
    ['cut before a COMMIT', () => Promise.race([link.cutCommit('before'), wait(5000)])],
    ['cut after a COMMIT', () => Promise.race([link.cutCommit('after'), wait(5000)])],
    [
      'cut off without notice',
      async () => {
        link.freeze();
        await wait(1000 + random.below(18_000));
        link.thaw();
        await restartIfEnded();
      },
    ],
    [
      'server restarted',
      async () => {
        await server.halt(random.chance(0.5) ? 'kill' : 'fast');
        await wait(random.below(4000));
        await server.restart();
      },
    ],
  ]);
  tally(what);
  await harm();
}

async function failOver(): Promise<void> {
  tally('failed over');
  await server.halt('kill');
  await wait(random.below(4000));
  await standby.query('SELECT pg_promote()');
  for (const link of links) link.moveTo(standby.url());
  several.url = several.url.replace(new URL(server.url()).host, new URL(standby.url()).host);
  await server.stop();
  server = standby;
}

const halfTime = performance.now() + minutes * 30_000;
const until = performance.now() + minutes * 60_000;
const working = Array.from({ length: tellers }, teller);
while (performance.now() < until) {
  await wait(random.below(2 * nemesisEveryMs));
  if (server !== standby && performance.now() > halfTime) await failOver();
  else await nemesis();
}
isOver = true;
await Promise.all(working);
// Daemons that ended by themselves after the last fault are started again, as a service manager does.
for (const [at, daemon] of several.daemons.entries()) {
  const how = await Promise.race([daemon.ended, wait(15_000, 'runs')]);
  if (how !== 'runs') await several.restart(at);
}
await eventually('nothing is held', async () => (await several.count('SELECT count(*) FROM holds')) === 0);
await eventually('everybody is answered', async () => {
  const verified = await ask('POST', '/v1/admin/ledger/verify', { as: owner });
  if (verified === undefined) return false;
  checks.check(verified.body.ok === true, `the ledger: ${JSON.stringify(verified.body.problems)}`);
  return true;
});
const { body } = await answerTo('GET', '/v1/admin/credit', { as: owner });
for (const { workspace, granted, charged } of everybody) {
  const account = body.data.find((each: { workspace: string }) => each.workspace === workspace);
  checks.check(nano(account.granted_usd) === granted, `${workspace}: ${account.granted_usd} granted`);
  checks.check(nano(account.spent_usd) >= charged, `${workspace}: ${account.spent_usd} spent of ${charged}`);
  checks.check(
    nano(account.balance_usd) === nano(account.granted_usd) - nano(account.spent_usd),
    `${workspace}: balance ${account.balance_usd}`,
  );
}
const msat = await several.count(
  "SELECT coalesce(sum(balance), 0) FROM accounts WHERE id LIKE 'msat:wallet:%'",
);
checks.check(
  msat >= faucet.confirmed * 1000 && msat <= (faucet.confirmed + faucet.doubtful) * 1000,
  `wallets hold ${msat} msat of ${faucet.confirmed} to ${faucet.confirmed + faucet.doubtful} sat`,
);
printFigures(Object.fromEntries([...counts].sort()));
await several.remove();
for (const link of links) await link.close();
await chaos.close();
await Promise.all([server.stop(), standby.stop()]);
checks.finish();
