import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answers, words } from '../support/chaos-behaviours.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { startLoad } from '../support/daemon-load.ts';
import { eventually } from '../support/eventually.ts';
import { completeCall } from '../support/model-client.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { runWhenAvailable } from '../support/run-cli.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { askDaemon } from '../support/users.ts';
import { whenAvailable } from '../support/when-available.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`A failover of PostgreSQL is not tested: ${missing}\n`);

const outputTokens = 50;
const price = outputTokens * 2000;

let primary: PostgresServer;
let standby: PostgresServer;
let chaos: ChaosUpstream;
let several: SeveralDaemons;

describe.skipIf(missing !== undefined)('when a standby becomes the primary server', () => {
  beforeEach(async () => {
    chaos = await startChaosUpstream(answers({ text: words, usage: { input: 10, output: outputTokens } }));
    primary = await startPostgres({ hasTcp: true });
    standby = await startPostgres({ hasTcp: true, standbyOf: primary });
    several = await SeveralDaemons.start(primary, {
      count: 2,
      config: `upstreams: [{name: fake, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "0", output: "2"}}]\n`,
      // The standby first: it is passed over until it accepts writes.
      reach: (url) => url.replace(/@(.+)\//, `@${new URL(standby.url()).host},$1/`),
    });
  });

  afterEach(async () => {
    await several?.remove();
    await chaos?.close();
    await Promise.all([primary?.stop(), standby?.stop()]);
  });

  const database = () => new URL(several.url).pathname.slice(1);
  const synchronous = async (names: string) => {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await primary.query('SELECT pg_reload_conf()');
  };
  const promote = () => standby.query('SELECT pg_promote()');
  const callNow = ({ url }: { url: string }, key: string) =>
    completeCall({ url, key }, { wire: 'chat', model: 'fake/any', stream: false });
  const call = async (daemon: { url: string }, key: string): Promise<number> =>
    (await whenAvailable(() => callNow(daemon, key))).status;
  const issueKey = async () => {
    const { login } = several.daemon(0);
    const options = { as: login, json: { name: 'a client' } };
    const { body } = await whenAvailable(() =>
      askDaemon(several.daemon(0), 'POST', '/v1/workspaces/me/keys', options),
    );
    return { secret: body.secret as string, id: body.key.id as string };
  };
  const revoke = async ({ id }: { id: string }) => {
    const { login } = several.daemon(0);
    await whenAvailable(() =>
      askDaemon(several.daemon(0), 'DELETE', `/v1/workspaces/me/keys/${id}`, { as: login }),
    );
  };
  const serverOf = async ({ home }: { home: string }) => {
    const { stdout } = await runWhenAvailable(['status', '--json'], { env: { GATEWAY_HOME: home } });
    return JSON.parse(stdout).storage.server.host;
  };

  test('a synchronous one, no answer is lost, none is charged twice, and the daemons go on', async () => {
    await synchronous('*');
    await eventually('the standby is synchronous', async () => {
      const [row] = await primary.query('SELECT sync_state FROM pg_stat_replication');
      return row?.sync_state === 'sync';
    });
    const revoked = await issueKey();
    const [one, other] = [several.daemon(0), several.daemon(1)];
    expect(await serverOf(one)).toBe(new URL(primary.url()).host);
    let sent = 0;
    const loads = startLoad(() => several.at(several.daemon(sent++ % 2).url), {
      clients: 6,
      everyMs: 100,
      model: 'fake/any',
      more: { max_completion_tokens: outputTokens },
    });
    await eventually('calls are answered', () => loads.acknowledged.length > 40);
    await revoke(revoked);
    await primary.halt('kill');
    for (const daemon of [one, other]) {
      await eventually('it is not ready', async () => (await fetch(`${daemon.url}/readyz`)).status === 503);
      expect((await callNow(daemon, several.daemon(0).key)).status).toBe(503);
    }
    // Nothing is answered until the standby serves.
    const soFar = loads.acknowledged.length;
    await promote();
    await eventually('many calls are answered again', () => loads.acknowledged.length > soFar + 40);
    await loads.stop();

    expect(
      [...loads.statuses.keys()].filter((status) => status > 0 && status !== 200 && status !== 503),
    ).toEqual([]);
    for (const daemon of [one, other]) expect(await call(daemon, revoked.secret)).toBe(401);
    await eventually('nothing is held', async () => {
      const [row] = await standby.query('SELECT count(*)::int AS held FROM gateway.holds', database());
      return row?.held === 0;
    });
    const rows = await standby.query('SELECT request_id, charged FROM gateway.usage', database());
    const charged = new Map(rows.map((row) => [String(row.request_id), Number(row.charged)]));
    expect(rows.length).toBe(charged.size);
    expect(rows.length).toBeLessThanOrEqual(chaos.calls.length);
    expect(loads.acknowledged.filter(({ requestId }) => charged.get(requestId) !== price)).toEqual([]);
    for (const daemon of [one, other]) {
      expect(await serverOf(daemon)).toBe(new URL(standby.url()).host);
      const verified = await runWhenAvailable(['ledger', 'verify'], { env: { GATEWAY_HOME: daemon.home } });
      expect(verified.stderr).toMatch(/^The ledger balances: /);
      expect(await Promise.race([daemon.ended, 'it runs'])).toBe('it runs');
    }
  });

  test('one that lacks the newest commits, the daemons that knew of them end and start again', async () => {
    const lost = await issueKey();
    expect(await call(several.daemon(1), lost.secret)).toBe(200);
    await standby.halt('fast');
    const revoked = await issueKey();
    expect(await call(several.daemon(1), revoked.secret)).toBe(200);
    await revoke(lost);
    await primary.halt('kill');
    await standby.restart();
    await promote();
    for (const at of [0, 1]) {
      const daemon = several.daemon(at);
      expect(await daemon.ended).toBe(70);
      expect(daemon.printed().stderr).toMatch(/the database server has lost what it had committed/);
      await several.restart(at);
    }
    // What the standby has is what counts now.
    expect(await call(several.daemon(1), lost.secret)).toBe(200);
    expect(await call(several.daemon(1), revoked.secret)).toBe(401);
  });
});
