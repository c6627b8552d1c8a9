import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { fakeWorld } from '../support/fake-world.ts';
import { connectionString, startFakeNwc } from '../support/lightning/fake-nwc.ts';
import { missingPostgres } from '../support/postgres.ts';
import { startProxiedPostgres } from '../support/proxied-postgres.ts';
import { noSecretService, startSecretService } from '../support/secret-service.ts';
import { startSilentServer } from '../support/silent-server.ts';
import { type DaemonOptions, type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

/** What answers nothing, and the daemon that waits for it. */
interface Silence {
  options: DaemonOptions;
  /** Makes the daemon wait for an answer, and resolves once it does. */
  wait(daemon: RunningDaemon): Promise<unknown>;
}

const plainVault = 'vault: {keychain: false, insecure_plain_file: true}';
const ask = (daemon: RunningDaemon, method: string, path: string, json?: object) =>
  askDaemon(daemon, method, path, { as: daemon.login, ...(json && { json }) });

async function silentServer() {
  const silent = await startSilentServer();
  onTestFinished(silent.close);
  const isAsked = () => eventually('it is asked', () => silent.connections() > 0);
  return { ...silent, isAsked };
}

/** A wallet whose node answers nothing from the start. */
async function silentNode(
  backend: string,
  secret: (host: string) => string,
  settings = '',
): Promise<Silence> {
  const { host, isAsked } = await silentServer();
  const url = backend === 'nwc' ? '' : `, url: "http://${host}"`;
  return {
    options: {
      config: `${plainVault}\nwallet: {backend: ${backend}, network: regtest${url}${settings}}\n`,
      env: { GATEWAY_WALLET_SECRET: secret(host) },
    },
    async wait(daemon) {
      void ask(daemon, 'GET', '/v1/admin/wallet-backend').catch(() => {});
      await isAsked();
    },
  };
}

const peers: Record<string, () => Promise<Silence>> = {
  'a Nostr relay that answers no handshake (nostr-dev-kit/ndk#171)': () =>
    silentNode('nwc', (host) => connectionString(`ws://${host}`, `ws://${host}/other`)),
  LND: () => silentNode('lnd', () => '02'.repeat(60)),
  phoenixd: () => silentNode('phoenixd', () => 'hunter2hunter2'),
  Electrum: () => silentNode('electrum', () => 'user:password'),

  async 'a Nostr relay that was cut off (cashubtc/cashu.me#136)'() {
    const fake = await startFakeNwc();
    onTestFinished(fake.close);
    return {
      options: {
        config: `${plainVault}\nwallet: {backend: nwc, network: regtest}\n`,
        env: { GATEWAY_WALLET_SECRET: fake.secret },
      },
      async wait(daemon) {
        await eventually('it is connected', () => fake.relay.clients() > 0);
        await ask(daemon, 'GET', '/v1/admin/wallet-backend');
        fake.relay.freeze();
        void ask(daemon, 'GET', '/v1/admin/wallet-backend').catch(() => {});
      },
    };
  },

  async 'a model provider'() {
    const { host, connections } = await silentServer();
    return {
      options: {
        config: `upstreams: [{name: mute, base_url: "http://${host}/v1", models: [m]}]\n`,
      },
      async wait(daemon) {
        const before = connections();
        void daemon.fetch('/v1/responses', { json: { model: 'mute/m', input: 'Hello' } }).catch(() => {});
        await eventually('it is called', () => connections() > before);
      },
    };
  },

  async 'a paywalled server'() {
    const { host, isAsked } = await silentServer();
    return {
      options: { config: `${plainVault}\n` },
      async wait(daemon) {
        await ask(daemon, 'POST', '/api/agents/me/wallet', {});
        const { status, body } = await ask(daemon, 'POST', '/api/l402/paywalls', {
          match: { pathPrefix: '/mute' },
          priceSats: 10,
          upstream: { url: `http://${host}` },
          freePaths: ['/mute/free'],
        });
        expect(status, JSON.stringify(body)).toBe(200);
        void fetch(`${new URL(body.data.url).origin}/mute/free`).catch(() => {});
        await isAsked();
      },
    };
  },

  async 'a web hook'() {
    const { host, isAsked } = await silentServer();
    return {
      options: {},
      async wait(daemon) {
        const json = { kind: 'silence', window_minutes: 60, webhook_url: `http://${host}/hook` };
        const saved = await ask(daemon, 'PUT', '/v1/workspaces/me/alerts/quiet', json);
        expect(saved.status, JSON.stringify(saved.body)).toBe(200);
        void ask(daemon, 'POST', '/v1/workspaces/me/alerts/quiet/test', {}).catch(() => {});
        await isAsked();
      },
    };
  },

  async 'a collector of traces'() {
    const { host, isAsked } = await silentServer();
    return {
      options: { config: `telemetry: {otlp: {endpoint: "http://${host}"}}\n` },
      async wait(daemon) {
        await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello' } });
        // The last spans are sent when it stops.
        void isAsked;
      },
    };
  },

  ...(missingPostgres() === undefined && {
    async 'a PostgreSQL server'() {
      const { server, proxy } = await startProxiedPostgres();
      return {
        options: { env: { GATEWAY_STORAGE_URL: proxy.through(await server.newDatabase()) } },
        async wait(daemon) {
          await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello' } });
          proxy.freeze();
          void daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello' } }).catch(() => {});
        },
      };
    },
  }),

  ...(noSecretService === undefined && {
    async 'a keychain'() {
      const session = await startSecretService();
      onTestFinished(() => session.close());
      await session.start('unlocked');
      return {
        options: { env: session.env },
        async wait(daemon) {
          session.hang();
          void ask(daemon, 'PUT', '/v1/workspaces/me/provider-keys/openai', {
            key: 'sk-0123456789abcdef',
          }).catch(() => {});
          onTestFinished(() => session.goOn());
        },
      };
    },
  }),
};

describe('a daemon stops within five seconds while it waits for', () => {
  test.each(Object.entries(peers))('%s', async (_name, start) => {
    const { options, wait } = await start();
    const clock = fakeWorld({ now: Date.now() });
    // Running calls are given a time of their own, which is not the matter here.
    const drain = { patientMs: 0, hurriedMs: 0 };
    const others = process.listeners('SIGTERM');
    const daemon = await startDaemon({ ...options, clock, drain, followUpMs: 1_000 });
    await wait(daemon);
    let isOver = false;
    // The signal, as a request would wait for a database that is silent.
    for (const listener of process.listeners('SIGTERM')) if (!others.includes(listener)) listener('SIGTERM');
    const stopping = daemon.stop({ isAsked: true }).finally(() => {
      isOver = true;
    });
    for (let ms = 0; ms < 5_000 && !isOver; ms += 250) {
      for (let turn = 0; turn < 20 && !isOver; turn += 1)
        await new Promise((resolve) => setTimeout(resolve, 1));
      await clock.advance(250);
    }
    // Its clock stands still from here on.
    expect(await stopping).toBe(0);
  });
});
