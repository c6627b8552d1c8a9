/**
 * Three daemons under load for a while, one of which is killed and started again every five minutes: `npm run long -- soak
 * [MINUTES]`. Prints memory, connections and the size of tables over time; they must not grow but for the rows of the calls.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { drips, words } from '../support/chaos-behaviours.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { startLoad } from '../support/daemon-load.ts';
import { eventually } from '../support/eventually.ts';
import { Checks, numberArgument } from '../support/long-run.ts';
import { startPostgres } from '../support/postgres.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { askDaemon } from '../support/users.ts';

const minutes = numberArgument(60);
const callsPerSecond = 100;
const clients = 20;
const outputTokens = 50;
const price = outputTokens * 2000;
const killEveryMs = 5 * 60_000;
/** Tables whose rows are changed all the time, so that dead versions could pile up. */
const hot = ['daemons', 'holds', 'changes', 'accounts', 'key_spend', 'meta', 'idempotency'];

const checks = new Checks();
const server = await startPostgres({ isDurable: true });
const chaos = await startChaosUpstream(drips(5, { text: words, usage: { input: 10, output: outputTokens } }));
const several = await SeveralDaemons.start(server, {
  count: 3,
  config: `upstreams: [{name: fake, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "0", output: "2"}}]\n`,
});
let next = 0;
const load = startLoad(
  () => {
    next = (next + 1) % several.daemons.length;
    return several.at(several.daemon(next).url);
  },
  {
    clients,
    model: 'fake/any',
    more: { max_completion_tokens: outputTokens, store: false },
    everyMs: (clients * 1000) / callsPerSecond,
  },
);

/** One line: what the processes and the tables take now. */
async function sample(minute: number): Promise<void> {
  const memory = await Promise.all(
    several.daemons.map(async ({ pid }) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
    }),
  );
  const connections = await several.count(
    "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'gateway %'",
  );
  const sizes = await several.rows(
    `SELECT relname, (pg_total_relation_size(relid) / 1024)::int AS kb FROM pg_stat_user_tables
     WHERE relname IN (${hot.map((name) => `'${name}'`).join()}) ORDER BY relname`,
  );
  const tables = sizes.map(({ relname, kb }) => `${String(relname)} ${String(kb)}`).join(', ');
  process.stdout.write(
    `minute ${minute}: ${load.acknowledged.length} calls; ${memory.join(', ')} MB; ${connections} connections; KB: ${tables}\n`,
  );
}

const start = performance.now();
let kills = 0;
for (let nextKill = killEveryMs; ; ) {
  const soFar = performance.now() - start;
  await sample(Math.round(soFar / 6000) / 10);
  if (soFar >= minutes * 60_000) break;
  if (soFar >= nextKill) {
    const at = kills % several.daemons.length;
    several.daemon(at).signal('SIGKILL');
    await several.daemon(at).ended;
    await several.restart(at);
    kills += 1;
    nextKill += killEveryMs;
  }
  await wait(Math.min(60_000, (minutes * 60_000) / 10));
}
await load.stop();
await eventually('nothing is held', async () => (await several.count('SELECT count(*) FROM holds')) === 0);
const rows = await several.rows(`SELECT request_id FROM usage WHERE charged = ${price}`);
const charged = new Set(rows.map(({ request_id: id }) => String(id)));
const lost = load.acknowledged.filter(({ requestId }) => !charged.has(requestId));
checks.check(lost.length === 0, `${lost.length} answers were not charged`);
const verified = await askDaemon(several.daemon(0), 'POST', '/v1/admin/ledger/verify', {
  as: several.daemon(0).login,
});
checks.check(verified.body.ok === true, `the ledger: ${JSON.stringify(verified.body.problems)}`);
process.stdout.write(`${kills} kills; statuses: ${JSON.stringify(Object.fromEntries(load.statuses))}\n`);
await several.remove();
await chaos.close();
await server.stop();
checks.finish();
