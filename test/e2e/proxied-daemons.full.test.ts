import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answers, stallsAfter, words } from '../support/chaos-behaviours.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { startLoad } from '../support/daemon-load.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, completeCall, isComplete } from '../support/model-client.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { runWhenAvailable } from '../support/run-cli.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { askDaemon } from '../support/users.ts';
import {
  exampleIn,
  hasCaddy,
  hasNginx,
  startCaddy,
  startNginx,
  type WebProxy,
} from '../support/web-proxies.ts';
import { streamWhenAvailable, whenAvailable } from '../support/when-available.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`Several daemons behind a proxy are not tested: ${missing}\n`);
if (!hasNginx) process.stderr.write('nginx is not installed: its tests are skipped.\n');
if (!hasCaddy) process.stderr.write('Caddy is not installed: its tests are skipped.\n');

/** Each call costs exactly what is reserved for it. */
const outputTokens = 50;
const nanoUsdPerToken = 2000;
const price = outputTokens * nanoUsdPerToken;
const more = { max_completion_tokens: outputTokens };

const guide = 'docs/daemons.md';
const addresses = /10\.0\.0\.1(\d):4100/g;

let server: PostgresServer;
let chaos: ChaosUpstream;
let several: SeveralDaemons;

describe.skipIf(missing !== undefined)('three daemons', () => {
  beforeAll(async () => {
    [server, chaos] = await Promise.all([
      startPostgres(),
      startChaosUpstream(answers({ text: words, usage: { input: 10, output: outputTokens } })),
    ]);
    several = await SeveralDaemons.start(server, {
      count: 3,
      config: `upstreams: [{name: fake, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "0", output: "2"}}]\n`,
    });
  });

  afterAll(async () => {
    await several?.remove();
    await chaos?.close();
    await server?.stop();
  });

  const socketAt = (digit: string) => several.sockets()[Number(digit) - 1] ?? '';
  /** With the sockets of these daemons, which are tried again after one second in place of five. */
  const example = (language: string, prefix: string) =>
    exampleIn(guide, language)
      .replace(addresses, (_, at: string) => `${prefix}${socketAt(at)}`)
      .replaceAll(/(fail_timeout=|fail_duration )5s/g, (_, name: string) => `${name}1s`);
  const nginx = () => startNginx(example('nginx', 'unix:'));
  const caddy = () => startCaddy(example('caddyfile', 'unix/'));

  describe.each([
    ['nginx', hasNginx, nginx],
    ['Caddy', hasCaddy, caddy],
  ] as const)('behind %s, set up as in the guide', (name, isInstalled, start) => {
    let proxy: WebProxy;
    beforeAll(async () => {
      if (isInstalled) proxy = await start();
    });
    afterAll(() => proxy?.stop());
    const whenInstalled = test.skipIf(!isInstalled);

    const issueKey = async (limits: object = {}) => {
      const options = { as: several.daemon(0).login, json: { name: 'a client', ...limits } };
      const { body } = await whenAvailable(() =>
        askDaemon(several.daemon(0), 'POST', '/v1/workspaces/me/keys', options),
      );
      return { secret: body.secret as string, id: body.key.id as string };
    };
    const hasCalls = async (at: number) => {
      const { url, login } = several.daemon(at);
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${login}` } });
      return /^gateway_calls_total\{.*\} [1-9]/m.test(await answer.text());
    };
    const call = (key: string, url = proxy.url) =>
      completeCall({ url, key }, { wire: 'chat', model: 'fake/any', stream: false, more });

    whenInstalled('streams as tokens come, from each daemon, and ends what the client leaves', async () => {
      chaos.on(`stalls-${name}`, stallsAfter(8, { text: words }));
      const begin = () =>
        callModel(several.at(proxy.url), { wire: 'chat', model: `fake/stalls-${name}`, stream: true });
      const streams = await Promise.all(Array.from({ length: 6 }, () => streamWhenAvailable(begin)));
      await Promise.all(streams.map((stream) => stream.receives('quick')));
      for (const stream of streams) stream.disconnect();
      await eventually('the provider is left', () =>
        chaos.callsOf(`stalls-${name}`).every(({ isClosed }) => isClosed),
      );
    });

    // What does not depend on how a proxy passes calls on is asked behind one of them.
    const isFirst = name === 'nginx' || !hasNginx;
    const behindOne = test.skipIf(!isInstalled || !isFirst);
    const askedOnce = isFirst ? '' : ' (skipped: it is asked behind nginx)';

    behindOne(
      `answers duplicates of an idempotent call once, at whichever daemon they arrive${askedOnce}`,
      async () => {
        const before = chaos.calls.length;
        const ask = async (url: string) => {
          const answer = await fetch(`${url}/v1/chat/completions`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${several.daemon(0).key}`,
              'content-type': 'application/json',
              'idempotency-key': `twice-${name}`,
            },
            body: JSON.stringify({ model: 'fake/any', messages: [{ role: 'user', content: 'Hi' }], ...more }),
          });
          return { status: answer.status, text: await answer.text() };
        };
        const urls = [proxy.url, proxy.url, proxy.url, ...several.daemons.map(({ url }) => url)];
        const all = await Promise.all(urls.map((url) => whenAvailable(() => ask(url))));
        expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
        expect(new Set(all.map(({ text }) => text)).size).toBe(1);
        expect(chaos.calls.length).toBe(before + 1);
      },
    );

    behindOne(`refuses a revoked key at each daemon${askedOnce}`, async () => {
      const { secret, id } = await issueKey();
      for (const { url } of several.daemons)
        await eventually('it is accepted', async () => (await call(secret, url)).status === 200);
      const { login } = several.daemon(0);
      await whenAvailable(() =>
        askDaemon(several.daemon(1), 'DELETE', `/v1/workspaces/me/keys/${id}`, { as: login }),
      );
      for (const { url } of several.daemons)
        await eventually('it is refused', async () => (await call(secret, url)).status === 401);
      expect([401, 503]).toContain((await call(secret)).status);
    });

    behindOne(`stops exactly at the cap of a key, however many calls come together${askedOnce}`, async () => {
      const cap = { usd: ((20 * price) / 1e9).toFixed(9), period: 'total' };
      const { secret } = await issueKey({ limits: { spend_cap: cap } });
      const all = await Promise.all(Array.from({ length: 400 }, () => call(secret)));
      expect(all.filter(({ status }) => status === 200).length).toBe(20);
      // A busy machine answers some calls with 503.
      expect(all.filter(({ status }) => ![200, 403, 503].includes(status))).toEqual([]);
    });

    whenInstalled('goes on when one of them is killed, and loses no answer', async () => {
      let isOver = false;
      const answered: string[] = [];
      const statuses = new Set<number>();
      const client = async (at: number) => {
        for (let sent = 0; !isOver; sent += 1) {
          const stream = (at + sent) % 2 === 0;
          const target = several.at(proxy.url);
          const answer = await completeCall(target, { wire: 'chat', model: 'fake/any', stream, more });
          statuses.add(answer.status);
          if ((await answer.ended) === 'end' && isComplete(answer, stream))
            answered.push(String(answer.headers['x-request-id']));
          await pause(150);
        }
      };
      const clients = Array.from({ length: 8 }, (_, at) => client(at));
      onTestFinished(() => {
        isOver = true;
      });
      const hasMore = (count: number) => {
        const soFar = answered.length;
        return eventually('calls are answered', () => answered.length > soFar + count);
      };
      await hasMore(20);
      const killed = several.daemon(2);
      killed.signal('SIGKILL');
      await killed.ended;
      await hasMore(60);
      await several.restart(2);
      await hasMore(20);
      isOver = true;
      await Promise.all(clients);
      expect([...statuses].filter((status) => ![200, 502, 503, 0].includes(status))).toEqual([]);
      const rows = await several.rows('SELECT request_id, charged FROM usage');
      const charged = new Map(rows.map((row) => [String(row.request_id), Number(row.charged)]));
      expect(answered.filter((id) => charged.get(id) !== price)).toEqual([]);
    });

    const isCaddy = name === 'Caddy';
    const withHealth = test.skipIf(!isInstalled || isCaddy);
    const skipReason = isCaddy ? ' (skipped: Caddy takes all Unix sockets for one host)' : '';
    withHealth(
      `answers every call while its daemons are restarted one after the other${skipReason}`,
      async () => {
        const target = several.at(proxy.url);
        const load = startLoad(() => target, { clients: 4, model: 'fake/any', more, everyMs: 200 });
        try {
          // The third was killed and started again by the test before.
          for (const at of [0, 1]) {
            const { ended, signal } = several.daemon(at);
            signal('SIGTERM');
            expect(await ended).toBe(0);
            await several.restart(at);
            await eventually('it is sent calls again', () => hasCalls(at), { everyMs: 200 });
          }
        } finally {
          await load.stop();
        }
        // A busy machine answers some calls with 503, but none because a daemon stops.
        expect([...load.statuses.keys()].filter((status) => ![200, 503].includes(status))).toEqual([]);
        expect(load.failures.filter((text) => text.includes('stopping'))).toEqual([]);
      },
    );
  });

  test('settle what those that were killed left, and keep one ledger', async () => {
    await eventually(
      'nothing is held',
      async () => (await several.count('SELECT count(*) FROM holds')) === 0,
    );
    const verified = await askDaemon(several.daemon(1), 'POST', '/v1/admin/ledger/verify', {
      as: several.daemon(0).login,
    });
    expect(verified.body).toMatchObject({ ok: true, problems: [] });
  });

  test('on one machine are found and stopped by the commands of their data folders', async () => {
    const cli = (at: number, ...args: string[]) =>
      runWhenAvailable(args, { env: { GATEWAY_HOME: several.daemon(at).home } });
    for (const [at, { url, pid }] of several.daemons.entries()) {
      const status = await cli(at, 'status', '--json');
      expect(JSON.parse(status.stdout)).toMatchObject({ url, socket: several.sockets()[at], pid });
    }
    const { ended, home } = several.daemon(1);
    expect((await cli(1, 'stop')).stderr).toContain('Stopped.');
    expect(await ended).toBe(0);
    expect(existsSync(join(home, 'daemon.json'))).toBe(false);
    expect(existsSync(join(home, 'gateway.sock'))).toBe(false);
    for (const at of [0, 2]) expect((await cli(at, 'whoami')).code).toBe(0);
    await several.restart(1);
    expect((await cli(1, 'whoami')).code).toBe(0);
  });
});
