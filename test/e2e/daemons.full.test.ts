import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answers, stallsAfter, words } from '../support/chaos-behaviours.ts';
import { chaosConfig, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import type { ChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { startMemberDaemon } from '../support/member-daemon.ts';
import { callModel, completeCall } from '../support/model-client.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { runWhenAvailable } from '../support/run-cli.ts';
import { streamWhenAvailable, whenAvailable } from '../support/when-available.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`Several daemons are not tested: ${missing}\n`);

const usage = { input: 100, output: 50 };
const price = usage.input * nanoUsdPerToken.input + usage.output * nanoUsdPerToken.output;

let server: PostgresServer;
let chaos: ChaosUpstream;
let url: string;
let daemons: ChildDaemon[] = [];

describe.skipIf(missing !== undefined)('several daemons on one database', () => {
  beforeAll(async () => {
    server = await startPostgres();
    const [endless, quick] = [stallsAfter(4, { text: words, usage }), answers({ text: words, usage })];
    chaos = await startChaosUpstream((call) => (call.stream ? endless : quick)(call));
    url = await server.newDatabase();
    daemons = await Promise.all([1, 2, 3].map(() => start()));
  });

  afterAll(async () => {
    await Promise.all(daemons.map((daemon) => daemon.remove()));
    await chaos?.close();
    await server?.stop();
  });

  const start = () => startMemberDaemon(url, { config: chaosConfig(chaos.baseUrl) });
  /** The one that is neither killed nor frozen. */
  const left = () => daemons[2] as ChildDaemon;
  const rows = (sql: string) => server.query(sql, new URL(url).pathname.slice(1));
  const number = async (sql: string) => Number(Object.values((await rows(sql))[0] ?? {})[0]);
  const settled = () => number('SELECT count(*) FROM gateway.usage');
  /** A call by one daemon with the key of another. */
  const by = ({ url: address }: ChildDaemon, { key }: ChildDaemon) =>
    whenAvailable(() =>
      completeCall({ url: address, key }, { wire: 'chat', model: 'chat/any', stream: false }),
    );
  const streamOf = (daemon: ChildDaemon) =>
    streamWhenAvailable(() => callModel(daemon, { wire: 'chat', model: 'chat/any', stream: true }));
  const expectSound = async ({ home }: ChildDaemon) => {
    const { stderr, code } = await runWhenAvailable(['ledger', 'verify'], { env: { GATEWAY_HOME: home } });
    expect(stderr).toMatch(/^The ledger balances: .* 0 running calls\.\n$/);
    expect(code).toBe(0);
  };

  test('start together with one owner, and each has its own login and key', async () => {
    expect(await number('SELECT count(*) FROM gateway.users')).toBe(1);
    expect(await number('SELECT count(*) FROM gateway.logins WHERE revoked_at IS NULL')).toBe(3);
    expect(new Set(daemons.map(({ login }) => login)).size).toBe(3);
  });

  test('serve the keys of each other, and number all calls without gaps in one ledger', async () => {
    const pairs = daemons.flatMap((daemon) => daemons.map((other) => [daemon, other] as const));
    const statuses = await Promise.all(
      [...pairs, ...pairs, ...pairs].map(([daemon, other]) => by(daemon, other)),
    );
    expect(statuses.map(({ status }) => status)).toEqual(Array.from({ length: 27 }, () => 200));
    await eventually('all are settled', async () => (await settled()) === 27);
    expect(await number('SELECT sum(charged) FROM gateway.usage')).toBe(27 * price);
    expect(
      await number(
        `SELECT max(number) - count(*) FROM (
           SELECT number FROM gateway.usage UNION ALL SELECT sequence FROM gateway.events) AS numbers`,
      ),
    ).toBe(0);
    for (const daemon of daemons) await expectSound(daemon);
  });

  test('keep the limits of a key together', async () => {
    const issue = async (...limits: string[]) => {
      const env = { GATEWAY_HOME: (daemons[0] as ChildDaemon).home };
      const { stdout } = await runWhenAvailable(
        ['keys', 'issue', '--name', 'limited', '--quiet', ...limits],
        { env },
      );
      return { key: stdout.trim() } as ChildDaemon;
    };
    const rounds = <T>(count: number, make: (daemon: ChildDaemon) => Promise<T>) =>
      Promise.all(Array.from({ length: count }, () => daemons.map(make)).flat());

    const rated = await issue('--rpm', '30');
    const answers = await rounds(30, (daemon) => by(daemon, rated));
    const admitted = answers.filter(({ status }) => status === 200).length;
    await eventually('they are settled', async () => (await settled()) === 27 + admitted);
    const calledMs = await number(
      `SELECT max(created_at) - min(created_at) FROM
         (SELECT created_at FROM gateway.usage ORDER BY created_at DESC LIMIT ${admitted}) AS rated`,
    );
    expect(admitted).toBeGreaterThanOrEqual(30);
    // More where the calls took longer than a minute.
    expect(admitted).toBeLessThanOrEqual(30 * Math.ceil((calledMs + 1) / 60_000));
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(90 - admitted);

    const capped = await issue('--spend-cap', `${((price * 20) / 1e9).toFixed(9)}/total`);
    const before = await number('SELECT sum(charged) FROM gateway.usage');
    let isLeft = true;
    while (isLeft) {
      const some = await rounds(10, (daemon) => by(daemon, capped));
      isLeft = some.some(({ status }) => status === 200);
    }
    const spent = (await number('SELECT sum(charged) FROM gateway.usage')) - before;
    expect(spent).toBeLessThanOrEqual(price * 20);
    expect(spent).toBeGreaterThan(price * 10);
  });

  test('finish the calls of one that was killed and of one that was frozen, which then writes nothing', async () => {
    const [killed, frozen] = daemons as [ChildDaemon, ChildDaemon];
    const before = await settled();
    const streams = await Promise.all([killed, frozen].map(streamOf));
    for (const stream of streams) await stream.receives('data:');
    killed.signal('SIGKILL');
    frozen.signal('SIGSTOP');
    await eventually('their calls are settled', async () => (await settled()) === before + 2);
    // Not before their terms were over.
    expect(
      await number(
        `SELECT count(*) FROM gateway.daemons
         WHERE successor IS NOT NULL AND expires_at > extract(epoch FROM clock_timestamp()) * 1000`,
      ),
    ).toBe(0);
    expect((await by(left(), killed)).status).toBe(200);
    await expectSound(left());

    frozen.signal('SIGCONT');
    expect(await frozen.ended).toBe(70);
    expect(frozen.printed().stderr).toContain('another one has taken over its work');
    expect(await settled()).toBe(before + 3);
    await expectSound(left());
  });

  test('are listed to their owner; one that runs is not removed', async () => {
    const cli = (...args: string[]) => runWhenAvailable(args, { env: { GATEWAY_HOME: left().home } });
    const listed = JSON.parse((await cli('daemons', 'list', '--json')).stdout) as Record<string, unknown>[];
    expect(listed).toEqual([
      expect.objectContaining({
        address: left().url,
        state: 'running',
        taken_over_by: null,
        runs_shared_jobs: true,
      }),
    ]);
    const [{ number: own } = {}] = listed;
    expect((await cli('daemons', 'remove', String(own))).stderr).toMatch(/^.*Daemon \d+ runs on .* at http/);
    expect((await cli('daemons', 'remove', '1000')).stderr).toContain('There is no daemon "1000".');
    expect(JSON.parse((await cli('status', '--json')).stdout)).toMatchObject({
      storage: { server: { daemons: 1 } },
    });
  });

  test('finish the work of one that is gone when its owner removes it, but not before its term has ended', async () => {
    const gone = await start();
    const named = await number('SELECT max(number) FROM gateway.daemons');
    const cli = (...args: string[]) => runWhenAvailable(args, { env: { GATEWAY_HOME: left().home } });
    const calls = await number('SELECT count(*) FROM gateway.usage');
    const stream = await streamOf(gone);
    await stream.receives('data:');
    gone.signal('SIGKILL');
    await gone.remove();
    const setEnd = (sql: string) =>
      rows(`UPDATE gateway.daemons SET expires_at = ${sql} WHERE number = ${named}`);
    await setEnd('expires_at + 3600000');
    const refused = await cli('daemons', 'remove', String(named));
    expect(refused.stderr).toMatch(
      new RegExp(`Daemon ${named} runs on .* at http.*; if it is gone, try again in 10 seconds\\.`),
    );
    expect(refused.code).toBe(1);
    expect(await number(`SELECT count(*) FROM gateway.holds WHERE daemon = ${named}`)).toBe(1);

    // With its next renewal, the other one would remove it without being asked: the database says that it has just renewed its term.
    const renewal = () => number(`SELECT max(expires_at) FROM gateway.daemons WHERE number <> ${named}`);
    const previous = await renewal();
    await eventually('the other one renews its term', async () => (await renewal()) > previous);
    const shift = (ms: number) =>
      rows(
        `UPDATE gateway.daemons SET expires_at = CASE number WHEN ${named} THEN 0 ELSE expires_at + ${ms} END`,
      );
    await shift(3_600_000);
    const removed = await cli('daemons', 'remove', String(named));
    await shift(-3_600_000);
    expect(removed).toMatchObject({
      code: 0,
      stderr: `Removed daemon ${named}; its work is finished.\n`,
    });
    expect(await number('SELECT count(*) FROM gateway.holds')).toBe(0);
    expect(await number('SELECT count(*) FROM gateway.usage')).toBe(calls + 1);
    const again = await cli('daemons', 'remove', String(named));
    expect(again.stderr).toContain(`There is no daemon "${named}".`);
    expect(again.code).toBe(1);
    await expectSound(left());
  });

  test('leave no work behind when one stops', async () => {
    const stopped = left();
    const next = await start();
    daemons.push(next);
    stopped.signal('SIGTERM');
    expect(await stopped.ended).toBe(0);
    await eventually(
      'only one is registered',
      async () => (await number('SELECT count(*) FROM gateway.daemons')) === 1,
    );
    expect((await by(next, stopped)).status).toBe(200);
    await expectSound(next);
  });
});
