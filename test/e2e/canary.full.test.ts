import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signUpAgent } from '../support/agents.ts';
import {
  address,
  canaries,
  canaryConfig,
  canaryEnv,
  echoes,
  everythingShown,
  expectNowhere,
  failureIn,
  filesOf,
  processesOf,
  telling,
  tellingHeaders,
} from '../support/canaries.ts';
import { answers } from '../support/chaos-behaviours.ts';
import { allFormatPairs } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { completeCall, pathOf } from '../support/model-client.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type SpanCollector, startSpanCollector } from '../support/span-collector.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`PostgreSQL is not searched for canaries: ${missing}\n`);

/** Every kind of credential, by every way in, on both databases; then every place is searched. */
const databases = [
  { name: 'SQLite', isMissing: false },
  { name: 'PostgreSQL', isMissing: missing !== undefined },
] as const;

describe.each(databases)('on $name', ({ name, isMissing }) => {
  let chaos: ChaosUpstream;
  let collector: SpanCollector;
  let server: PostgresServer | undefined;
  let database = '';
  let daemon: ChildDaemon;
  /** Credentials that the daemon issued. */
  let issued: Record<string, string>;
  /** What callers learned of failures. */
  const failures = new Map<string, string>();

  describe.skipIf(isMissing)('', () => {
    beforeAll(async () => {
      chaos = await startChaosUpstream(answers());
      collector = await startSpanCollector();
      if (name === 'PostgreSQL') {
        server = await startPostgres();
        database = await server.newDatabase();
      }
      daemon = await startChildDaemon({
        config: `agents: {difficulty: 4}\n${canaryConfig(chaos.baseUrl)}`,
        env: {
          ...canaryEnv,
          ...(database && { GATEWAY_STORAGE_URL: database }),
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: `x-canary=${canaries.otlpHeader}`,
        },
      });
      await ask('PUT', '/v1/capture/wire', { json: { minutes: 60 } });
      await ask('POST', '/api/agents/me/wallet', { json: {} });
      const upstream = { url: 'http://127.0.0.1:9', headers: { 'x-canary': canaries.paywallHeader } };
      const paywall = await ask('POST', '/api/l402/paywalls', { json: { priceSats: 10, upstream } });
      expect(paywall.status).toBe(200);
      const hook = `http://127.0.0.1:9/${canaries.hookAddress}`;
      const settings = { kind: 'spend', window_minutes: 60, threshold: '5', webhook_url: hook };
      const alert = await ask('PUT', '/v1/workspaces/me/alerts/dear', { json: settings });
      const token = await ask('POST', '/api/tokens', { json: { name: 'canary' } });
      const scopes = ['responses', 'threads', 'content:read'];
      const second = await ask('POST', '/v1/workspaces/me/keys', { json: { name: 'second', scopes } });
      issued = {
        key: daemon.key,
        login: daemon.login,
        agent: (await signUpAgent(daemon)).secret,
        second: JSON.parse(second.text).secret,
        token: /gwt_\w+/.exec(token.text)?.[0] ?? '',
        hookSecret: JSON.parse(alert.text).webhook_secret,
      };
    });

    afterAll(async () => {
      await daemon?.remove();
      await collector?.close();
      await chaos?.close();
      await server?.stop();
    });

    interface Asking {
      as?: string;
      json?: unknown;
      headers?: Record<string, string>;
    }

    async function ask(method: string, path: string, { as = daemon.login, json, headers }: Asking = {}) {
      const answer = await fetch(daemon.url + path, {
        method,
        body: json === undefined ? null : JSON.stringify(json),
        headers: {
          authorization: `Bearer ${as}`,
          'content-type': 'application/json',
          connection: 'close',
          ...headers,
        },
      });
      const text = await answer.text();
      if (answer.status >= 400) failures.set(`${method} ${path}`, text);
      return { status: answer.status, text };
    }

    test.each(allFormatPairs)(
      'a provider repeats all that it received: $name',
      async ({ wire, upstream }) => {
        for (const [at, [how, behaviour]] of echoes.entries()) {
          for (const stream of [true, false]) {
            for (const isOdd of [true, false]) {
              // A refused key closes a provider, which the other calls of a format need.
              if (how.endsWith('401') && !(stream && wire === 'chat' && isOdd)) continue;
              // Half of the calls on each database, so that both together have all.
              const isDrawn = (at + Number(stream) + Number(isOdd)) % 2 === Number(name === 'SQLite');
              if (!isDrawn && !how.endsWith('401')) continue;
              const account = isOdd ? `${upstream}-odd` : upstream;
              const model = chaos.addModel(account, behaviour);
              const more = { ...telling(wire, daemon), ...(wire === 'responses' && { store: true }) };
              const headers = tellingHeaders(daemon);
              const answer = await completeCall(daemon, { wire, model, stream, more, headers });
              failures.set(`${wire} ${how} ${stream} ${account}`, failureIn(answer));
            }
          }
        }
      },
    );

    test.each(['key', 'login', 'agent', 'second', 'token', 'provider'])(
      'a credential where none belongs: %s',
      async (kind) => {
        const secret = kind === 'provider' ? canaries.providerKey : issued[kind];
        if (!secret) throw new Error(`no ${kind} was issued`);
        for (const path of Object.values(pathOf)) {
          const plain = {
            model: 'chat/any',
            max_tokens: 10,
            input: 'Hello',
            messages: [{ role: 'user', content: secret }],
          };
          const bodies = [
            { ...plain, model: secret },
            { ...plain, user: secret, metadata: { user_id: secret } },
            { ...plain, [secret]: secret },
            { ...plain, service: { user: secret, conversation: secret, tags: { team: secret } } },
            { ...plain, previous_response_id: secret, conversation: secret },
          ];
          for (const json of bodies) {
            await ask('POST', path, { json });
            await ask('POST', `${path}?api_key=${secret}`, { json, as: daemon.key });
          }
          for (const header of [
            'cookie',
            'x-api-key',
            'x-service-user',
            'x-service-tags',
            'user-agent',
            'idempotency-key',
          ])
            await ask('POST', path, {
              json: plain,
              headers: { [header]: header.endsWith('tags') ? `a=${secret}` : secret },
            });
          await ask('POST', path.replace('/v1', `/v1/${secret}`), { json: plain });
          await ask('POST', path, { json: plain, as: secret });
        }
        for (const path of ['/v1/models', '/v1/traces', '/v1/responses', '/v1/events', '/v1/threads'])
          await ask('GET', `${path}/${secret}?key=${secret}`);
        const l402 = `L402 ${canaries.macaroon}:${canaries.preimage}`;
        await ask('GET', '/v1/key', { headers: { authorization: l402 } });
      },
    );

    test('what is stored can be continued, and is sent again as it was', async () => {
      for (const background of [false, true]) {
        const model = chaos.addModel('responses', echoes[0]?.[1] ?? answers());
        const json = { model, ...telling('responses', daemon), background, stream: background };
        const { text } = await ask('POST', '/v1/responses', { json });
        const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
        const next = { model, input: 'Go on.', previous_response_id: id };
        expect((await ask('POST', '/v1/responses', { json: next })).status).toBe(200);
        expect(JSON.stringify(chaos.calls.at(-1)?.body)).toContain(`"image_url":"${address}"`);
        if (background) {
          const followed = await ask('GET', `/v1/responses/${id}?stream=true`);
          expect(followed.text).toContain('response.completed');
        }
      }
      for (const wire of ['responses', 'chat', 'messages'] as const) {
        const thread = JSON.parse((await ask('POST', '/v1/threads', { json: {} })).text) as { id: string };
        const model = chaos.addModel(wire, answers());
        const json = { model, ...telling(wire, daemon), service: { thread: thread.id } };
        for (const _turn of [1, 2]) await ask('POST', pathOf[wire], { json });
        expect(chaos.callsOf(model.split('/')[1] ?? '').length, wire).toBeLessThanOrEqual(2);
      }
    });

    test('a key for billing and a token for payments see no header of a paywall', async () => {
      const scopes = { json: { name: 'bills', scopes: ['billing'] } };
      const abilities = { json: { name: 'pays', abilities: ['payments'] } };
      const key = JSON.parse((await ask('POST', '/v1/workspaces/me/keys', scopes)).text).secret;
      const token = /gwt_\w+/.exec((await ask('POST', '/api/tokens', abilities)).text)?.[0];
      for (const as of [key, token, daemon.login]) {
        const { text } = await ask('GET', '/api/l402/paywalls', { as });
        expect(JSON.parse(text).data[0].upstream.headers['x-canary']).toMatch(/^[0-9a-f]{12}$/);
        failures.set(`paywalls for ${as.slice(0, 4)}`, text);
      }
    });

    test('no secret is in any file, database, dump, log, export, answer, span or process', async () => {
      await ask('POST', '/v1/admin/backups', { json: { with_content: true } });
      const shown = await everythingShown(daemon);
      const processes = processesOf(daemon.pid);
      daemon.signal('SIGTERM');
      expect(await daemon.ended).toBe(0);
      const { stdout, stderr } = daemon.printed();
      const dump = await server?.dump(new URL(database).pathname.slice(1));
      const places = new Map([
        ...shown,
        ...processes,
        ...filesOf(daemon),
        ...failures,
        ['stdout', stdout],
        ['stderr', stderr],
        ['dump', dump ?? ''],
        ...collector.requests.map(({ text }, at): [string, string] => [`spans ${at}`, text]),
      ]);
      // What was said is kept, so that the search would find what should not be.
      if (dump !== undefined) expect(dump).toContain('files.example');
      expect(shown.get('/v1/traces/export?format=har&content=wire')).toContain('files.example');
      expectNowhere({ ...canaries, ...issued }, places);
    });
  });
});
