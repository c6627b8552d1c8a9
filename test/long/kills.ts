/**
 * Three daemons behind nginx, one of which is killed again and again under load: `npm run long -- kills [KILLS]`. Each answer
 * that a client received is charged once, what the dead daemon held is settled within 15 seconds, and the others go on.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { termMs } from '../../src/daemon/storage/sqlite/daemons/term-length.ts';
import { drips, words } from '../support/chaos-behaviours.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { startLoad } from '../support/daemon-load.ts';
import { eventually } from '../support/eventually.ts';
import { Checks, numberArgument, printFigures, quantile } from '../support/long-run.ts';
import { startPostgres } from '../support/postgres.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { askDaemon } from '../support/users.ts';
import { exampleIn, startNginx } from '../support/web-proxies.ts';

const kills = numberArgument(50);
const outputTokens = 50;
const price = outputTokens * 2000;
const settledWithinMs = 15_000;
const termEndedMs = termMs + 2000;

const checks = new Checks();
const server = await startPostgres({ isDurable: true });
const chaos = await startChaosUpstream(drips(5, { text: words, usage: { input: 10, output: outputTokens } }));
const several = await SeveralDaemons.start(server, {
  count: 3,
  config: `upstreams: [{name: fake, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "0", output: "2"}}]\n`,
});
const site = exampleIn('docs/daemons.md', 'nginx').replace(
  /10\.0\.0\.1(\d):4100/g,
  (_, digit: string) => `unix:${several.sockets()[Number(digit) - 1]}`,
);
const nginx = await startNginx(site);
const target = several.at(nginx.url);
const load = startLoad(() => target, {
  clients: 24,
  model: 'fake/any',
  more: { max_completion_tokens: outputTokens },
});
const settleTimes: number[] = [];
const meanwhile: number[] = [];

for (let killed = 0; killed < kills; killed += 1) {
  const soFar = load.acknowledged.length;
  await eventually('there is load', () => load.acknowledged.length > soFar + 100);
  const at = killed % 3;
  const victim = several.daemon(at);
  const isFrozen = killed % 5 === 4;
  victim.signal(isFrozen ? 'SIGSTOP' : 'SIGKILL');
  const start = performance.now();
  const left = await several.rows('SELECT request_id FROM holds');
  const settled = await eventually(
    'what it held is settled',
    async () => {
      const [row] = await several.rows(
        `SELECT count(*)::int AS held FROM holds WHERE request_id = ANY(ARRAY[${
          left.map(({ request_id: id }) => `'${String(id)}'`).join() || 'NULL'
        }]::text[])`,
      );
      await wait(100);
      return row?.held === 0 && performance.now() - start;
    },
    { withinMs: 4 * settledWithinMs },
  ).catch(() => Number.POSITIVE_INFINITY);
  settleTimes.push(settled);
  process.stdout.write(
    `kill ${killed + 1}: ${left.length} calls were running, settled after ${Math.round(settled)} ms\n`,
  );
  checks.check(settled <= settledWithinMs, `kill ${killed + 1}: settled after ${Math.round(settled)} ms`);
  const answered = () => load.acknowledged.filter((answer) => answer.at - answer.tookMs > start);
  const haveOthers = eventually('the others answer', () => answered().length > 0, { withinMs: 5000 });
  checks.check(await haveOthers.catch(() => false), `kill ${killed + 1}: the others answer nothing`);
  meanwhile.push(...answered().map(({ tookMs }) => tookMs));
  if (isFrozen) {
    // One that ran no call has nothing to settle, by which it could be seen that its term has ended.
    await wait(Math.max(0, termEndedMs - (performance.now() - start)));
    victim.signal('SIGCONT');
    const how = await Promise.race([
      victim.ended,
      eventually('it ended', () => undefined, { withinMs: 20_000 }).catch(() => 'it goes on'),
    ]);
    checks.check(
      how !== 0 && how !== 'it goes on',
      `kill ${killed + 1}: the daemon that was frozen ended with ${how}`,
    );
    victim.signal('SIGKILL');
  }
  await victim.ended;
  await several.restart(at);
}
await load.stop();
await eventually('nothing is held', async () => (await several.count('SELECT count(*) FROM holds')) === 0);

const rows = await several.rows('SELECT request_id, status, charged FROM usage');
const charged = new Map(rows.map((row) => [String(row.request_id), Number(row.charged)]));
for (const { requestId } of load.acknowledged)
  checks.check(charged.get(requestId) === price, `${requestId} was charged ${charged.get(requestId)}`);
checks.check(rows.length === charged.size, 'a call has two rows');
checks.check(
  rows.length <= chaos.calls.length,
  `${rows.length} calls are charged for ${chaos.calls.length} at the provider`,
);
const textsOf = Map.groupBy(
  load.acknowledged.filter(({ idempotencyKey }) => idempotencyKey !== undefined),
  ({ idempotencyKey }) => idempotencyKey,
);
for (const [key, answers] of textsOf)
  checks.check(answers.length === 1, `${key} was answered ${answers.length} times`);
const verified = await askDaemon(several.daemon(0), 'POST', '/v1/admin/ledger/verify', { as: target.login });
checks.check(verified.body.ok === true, `the ledger: ${JSON.stringify(verified.body.problems)}`);

printFigures({
  'calls answered': load.acknowledged.length,
  'statuses (0 none, -1 cut)': JSON.stringify(Object.fromEntries(load.statuses)),
  'settled after, ms, p50': Math.round(quantile(settleTimes, 0.5)),
  'settled after, ms, worst': Math.round(Math.max(...settleTimes)),
  'calls meanwhile, ms, p50': Math.round(quantile(meanwhile, 0.5)),
  'calls meanwhile, ms, p99': Math.round(quantile(meanwhile, 0.99)),
});
await nginx.stop();
await several.remove();
await chaos.close();
await server.stop();
checks.finish();
