import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/shared/contract/decisions.ts';
import type { NodeCard, Peer, PeerAttempt } from '../../src/shared/contract/peers.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type DeciderAnswer, type FakeDecider, startFakeDecider } from '../support/fake-decider.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/*
 * Four daemons on loopback, each with an engine of its own: `asking` asks the others. Answers of `liar` are changed on their
 * way, and `doomed` runs in a process that is killed.
 */

type Body = Record<string, unknown>;

/** Forwards to a daemon, records what it was sent, and may change what it answers. */
interface Forwarder {
  url: string;
  requests: { path: string; headers: IncomingHttpHeaders; body: Body }[];
  change: (path: string, answer: Body) => { status?: number; body: Body };
  close(): Promise<void>;
}

const noKey = { 'content-type': 'application/json' };
let engines: FakeDecider[];
let asking: RunningDaemon;
let slow: RunningDaemon;
let liar: RunningDaemon;
let doomed: ChildDaemon;
let forwarder: Forwarder;
const vault = 'vault: { insecure_plain_file: true, keychain: false }\n';

beforeAll(async () => {
  engines = await Promise.all([0, 1, 2, 3].map(() => startFakeDecider()));
  const engineAt = (at: number) =>
    `decisions: { engine: { url: '${engineOf(at).url}', model: model-${at} } }\n`;
  engines.forEach((_, at) => void reply(at, engineAnswer(0.1 * (at + 1))));
  [asking, slow, liar, doomed] = await Promise.all([
    startDaemon({ config: vault + engineAt(0) }),
    startDaemon({ config: vault + engineAt(1) }),
    startDaemon({ config: vault + engineAt(2) }),
    startChildDaemon({ config: vault + engineAt(3) }),
  ]);
  forwarder = await startForwarder(liar.url);
});

afterAll(async () => {
  await Promise.all([asking?.stop(), slow?.stop(), liar?.stop(), doomed?.remove(), forwarder?.close()]);
  await Promise.all(engines.map((engine) => engine.close()));
});

afterEach(async () => {
  forwarder.change = (_, body) => ({ body });
  engines.forEach((_, at) => void reply(at, engineAnswer(0.1 * (at + 1))));
  const { data } = (await manage('peers')).body as { data: Peer[] };
  for (const { name } of data) await manage(`peers/${name}`, 'DELETE');
});

function engineOf(at: number): FakeDecider {
  return engines[at] as FakeDecider;
}

/** What an engine of the System One kind answers to one predicate. */
function engineAnswer(probability: number): DeciderAnswer {
  return { json: { model: 'any', answers: { q0: { type: 'noul', noul: probability } }, usage: {} } };
}

function reply(at: number, answer: DeciderAnswer): void {
  engineOf(at).answer = () => answer;
}

async function startForwarder(target: string): Promise<Forwarder> {
  const own: Forwarder = {
    url: '',
    requests: [],
    close: async () => {},
    change: (_, body) => ({ body }),
  };
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const path = incoming.url ?? '';
    own.requests.push({ path, headers: incoming.headers, body: text === '' ? {} : JSON.parse(text) });
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers;
    const answer = await fetch(target + path, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(text !== '' && { body: text }),
    });
    const changed = own.change(path, (await answer.json()) as Body);
    outgoing.writeHead(changed.status ?? answer.status, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(changed.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  own.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  own.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return own;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
type Json = any;

async function manage(path: string, method = 'GET', body?: Body) {
  const answer = await fetch(`${asking.url}/v1/workspaces/me/${path}`, {
    method,
    headers: { authorization: `Bearer ${asking.login}`, ...(body && noKey) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const add = (name: string, body: Body) => manage(`peers/${name}`, 'PUT', body);
const remove = (name: string) => manage(`peers/${name}`, 'DELETE');
const peerNamed = async (name: string): Promise<Peer> =>
  (await manage('peers')).body.data.find((each: Peer) => each.name === name);
const attemptsOf = async (name: string): Promise<PeerAttempt[]> =>
  (await manage(`peer-attempts?peer=${name}`)).body.data;

const question = { type: 'predicate', instructions: 'Is it late?' };

async function decide({
  order = 'peer',
  model = 'service/decide',
  headers = {},
}: {
  order?: string | null;
  model?: string;
  headers?: Record<string, string>;
} = {}) {
  const answer = await fetch(`${asking.url}/v1/decisions`, {
    method: 'POST',
    headers: { ...noKey, ...(order && { 'x-decision-order': order }), ...headers },
    body: JSON.stringify({ model, input: 'It is midnight.', questions: [question] }),
  });
  const json = (await answer.json()) as Json;
  return { status: answer.status, json, decision: json as Decision };
}

describe('a peer', () => {
  test('answers callers who ask for peers, and no others', async () => {
    const { status, body } = await add('attic', { url: `${slow.url}/v1/`, key: slow.key });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'attic', url: slow.url, status: 'unknown', max_in_flight: 4 });
    expect(JSON.stringify(body)).not.toContain(slow.key);

    const { decision } = await decide();
    expect(decision.answers[0]).toMatchObject({ probability: 0.2 });
    expect(decision.model).toBe('model-1');
    expect(decision.service).toMatchObject({ answered_by: 'peer:attic', method: 'native', attempts: [] });
    expect((await decide({ order: null })).decision.service.answered_by).toBe('engine');
    expect((await decide({ order: 'hosted' })).decision.service.answered_by).toBe('engine');

    const card = (await (await fetch(`${slow.url}/v1/node`)).json()) as NodeCard;
    expect(card.decisions).toMatchObject({ models: [{ id: 'engine', identity: 'model-1' }] });
    expect(await peerNamed('attic')).toMatchObject({
      status: 'healthy',
      answered: 1,
      failed: 0,
      node_id: card.node_id,
      version: card.version,
      models: [{ id: 'engine', identity: 'model-1' }],
    });
    await remove('attic');
    expect(await peerNamed('attic')).toBeUndefined();
    expect((await decide()).decision.service).toMatchObject({ answered_by: 'engine', attempts: [] });
  });

  test('gets its own key and none of the caller, and is told where the request comes from', async () => {
    await add('inspected', { url: forwarder.url, key: liar.key });
    forwarder.requests.length = 0;
    const headers = { authorization: `Bearer ${asking.key}`, 'idempotency-key': 'mine' };
    expect((await decide({ headers })).decision.service.answered_by).toBe('peer:inspected');
    const sent = forwarder.requests.find(({ path }) => path === '/v1/decisions');
    const { node_id: nodeId } = (await (await fetch(`${asking.url}/v1/node`)).json()) as NodeCard;
    expect(sent?.headers).toMatchObject({
      authorization: `Bearer ${liar.key}`,
      'x-decision-order': 'hosted',
      'x-service-via': nodeId,
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/),
      'x-service-deadline-ms': expect.stringMatching(/^[1-8][0-9]{0,3}$/),
    });
    expect(JSON.stringify(forwarder.requests)).not.toContain(asking.key);
    expect(Object.keys(sent?.body ?? {})).toEqual(['model', 'input', 'questions']);
  });

  test('rejects a request that came through it before', async () => {
    const { node_id: nodeId } = (await (await fetch(`${asking.url}/v1/node`)).json()) as NodeCard;
    const looped = await decide({ headers: { 'x-service-via': `node_other, ${nodeId}` } });
    expect([looped.status, looped.json.error.code, looped.json.error.param]).toEqual([
      ...[503, 'unavailable', 'X-Service-Via'],
    ]);
    expect((await decide({ headers: { 'x-service-via': 'node_other' } })).status).toBe(200);
  });

  test('is asked for a model by name only if the same model answers there as here', async () => {
    await add('attic', { url: slow.url, key: slow.key });
    const { decision } = await decide({ model: 'engine' });
    expect(decision.service).toMatchObject({
      answered_by: 'engine',
      attempts: [{ source: 'peer:attic', outcome: 'model_not_found' }],
    });
  });

  test('that is slow does not hold up the answer of a second one', async () => {
    await add('tortoise', { url: slow.url, key: slow.key });
    await add('hare', { url: forwarder.url, key: liar.key });
    reply(1, 'hang');
    // Which of two equal peers is asked first is left to chance.
    const passed = await eventually('the slow peer to be asked', async () => {
      expect((await decide()).decision.service.answered_by).toBe('peer:hare');
      const [attempt] = await attemptsOf('tortoise');
      return attempt;
    });
    expect(passed.outcome).toMatch(/^(canceled|timeout)$/);
    expect(passed.code).toBeNull();
  });

  test('that dies in the middle of a request is replaced by the engine', async () => {
    await add('doomed', { url: doomed.url, key: doomed.key });
    expect((await decide()).decision.service.answered_by).toBe('peer:doomed');
    engineOf(3).answer = () => {
      doomed.signal('SIGKILL');
      return 'hang';
    };
    const { decision } = await decide();
    expect(decision.service).toMatchObject({
      answered_by: 'engine',
      attempts: [{ source: 'peer:doomed', outcome: 'unreachable' }],
    });
    await doomed.ended;
    // After three failures in a row it is not asked.
    for (const outcome of ['unreachable', 'unreachable', 'benched']) {
      const { attempts } = (await decide()).decision.service;
      expect(attempts).toMatchObject([{ source: 'peer:doomed', outcome }]);
    }
    expect(await peerNamed('doomed')).toMatchObject({ status: 'benched', reason: 'unreachable', failed: 3 });
    expect((await manage('peers/doomed/check', 'POST')).body).toMatchObject({
      result: 'failed',
      card_ms: null,
    });
  });
});

test('answers are compared with those of the engine, and the result is counted', async () => {
  const configure = async (share: number) => {
    const decisions = `{ peer_agreement_share: ${share}, engine: { url: '${engineOf(0).url}', model: model-0 } }`;
    await writeFile(
      join(asking.home, 'config.yaml'),
      `local_servers: false\n${vault}decisions: ${decisions}\n`,
    );
    const headers = { authorization: `Bearer ${asking.login}` };
    const reloaded = await fetch(`${asking.url}/v1/admin/reload`, { method: 'POST', headers });
    expect(reloaded.status).toBe(200);
  };
  await configure(1);
  await add('attic', { url: slow.url, key: slow.key });
  const agreement = async () => (await peerNamed('attic')).agreement;
  expect((await decide()).decision.service.answered_by).toBe('peer:attic');
  await eventually('the comparison', async () => (await agreement()).compared === 1);
  expect(await agreement()).toEqual({ compared: 1, agreed: 1 });
  reply(0, engineAnswer(0.9));
  await decide();
  await eventually('the next comparison', async () => (await agreement()).compared === 2);
  expect((await manage('peers/attic/check', 'POST')).body.agreement).toEqual({ compared: 2, agreed: 1 });
  const metrics = await (await fetch(`${asking.url}/metrics`)).text();
  for (const outcome of ['agreed', 'disagreed'])
    expect(metrics).toContain(`gateway_peer_answers_compared_total{peer="attic",outcome="${outcome}"} 1`);
  await configure(0);
});

describe('an answer that is wrong benches the peer immediately', () => {
  const firstAnswer = (body: Body) => (body.answers as Body[])[0] as Body;
  const lies: Record<string, { change: (body: Body) => Body; outcome: string }> = {
    'of another model': { change: (body) => ({ ...body, model: 'model-9' }), outcome: 'wrong_model' },
    'with an answer too many': {
      change: (body) => ({ ...body, answers: [firstAnswer(body), firstAnswer(body)] }),
      outcome: 'wrong_shape',
    },
    'of another type': {
      change: (body) => ({ ...body, answers: [{ ...firstAnswer(body), type: 'score' }] }),
      outcome: 'wrong_shape',
    },
    'that is no probability': {
      change: (body) => ({ ...body, answers: [{ ...firstAnswer(body), probability: 1.2 }] }),
      outcome: 'wrong_shape',
    },
  };
  test.each(Object.entries(lies))('%s', async (_, { change, outcome }) => {
    const before = Date.now();
    await add('liar', { url: forwarder.url, key: liar.key });
    forwarder.change = (path, body) => ({ body: path === '/v1/decisions' ? change(body) : body });
    const { decision } = await decide();
    expect(decision.service).toMatchObject({
      answered_by: 'engine',
      attempts: [{ source: 'peer:liar', outcome }],
    });
    const peer = await peerNamed('liar');
    expect(peer).toMatchObject({ status: 'benched', reason: outcome });
    expect(Date.parse(peer.benched_until ?? '')).toBeGreaterThan(before + 30_000);
    expect((await decide()).decision.service.attempts).toMatchObject([{ outcome: 'benched' }]);
    await eventually('the attempt to be recorded', async () =>
      (await attemptsOf('liar')).some((each) => each.outcome === outcome && each.code === 200),
    );
    // A good check ends the bench.
    forwarder.change = (_path, body) => ({ body });
    expect((await manage('peers/liar/check', 'POST')).body).toMatchObject({
      result: 'good',
      model: 'model-2',
    });
    expect((await decide()).decision.service.answered_by).toBe('peer:liar');
  });

  test('and is announced as an event without the question', async () => {
    const answer = await fetch(`${asking.url}/v1/events?type=peer.*&after=0`, {
      headers: { authorization: `Bearer ${asking.login}` },
    });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('peer.benched')) break;
    }
    expect(text).toMatch(/"peer\.added"/);
    expect(text).not.toContain('midnight');
  });

  test('a sum that is not 1 is wrong, too', async () => {
    await add('liar', { url: forwarder.url, key: liar.key });
    const probabilities = [
      { value: 'a', probability: 0.6 },
      { value: 'b', probability: 0.41 },
    ];
    engineOf(2).answer = () => ({
      json: { answers: { q0: { type: 'choice', probabilities: { a: 0.6, b: 0.4 } } }, usage: {} },
    });
    forwarder.change = (path, body) =>
      path === '/v1/decisions'
        ? { body: { ...body, answers: [{ ...firstAnswer(body), probabilities }] } }
        : { body };
    engineOf(0).answer = engineOf(2).answer;
    const answer = await fetch(`${asking.url}/v1/decisions`, {
      method: 'POST',
      headers: { ...noKey, 'x-decision-order': 'peer' },
      body: JSON.stringify({
        model: 'service/decide',
        input: 'x',
        questions: [{ type: 'choice', instructions: 'Which?', choices: [{ value: 'a' }, { value: 'b' }] }],
      }),
    });
    expect(((await answer.json()) as Decision).service.attempts).toMatchObject([{ outcome: 'wrong_shape' }]);
  });
});

describe('the key of a peer', () => {
  const key = 'peer-key-CANARY-0123456789';

  test('is sealed, and stays when other settings change', async () => {
    await add('sealed', { url: slow.url, key });
    const changed = await add('sealed', { url: slow.url, max_in_flight: 2, enabled: false });
    expect(changed.body).toMatchObject({
      status: 'disabled',
      key_fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    const files = readdirSync(asking.home).filter((name) => name.startsWith('gateway.db'));
    for (const file of files) expect(readFileSync(join(asking.home, file)).includes(key)).toBe(false);
    expect(JSON.stringify(asking.printed())).not.toContain(key);
  });

  test('is not sent to another address', async () => {
    await add('sealed', { url: slow.url, key });
    const { status, body } = await add('sealed', { url: forwarder.url });
    expect([status, body.error.param]).toEqual([400, 'key']);
    expect((await add('sealed', { url: forwarder.url, key: null })).body).toMatchObject({
      key_fingerprint: null,
    });
  });

  test('that the peer rejects benches it for five minutes', async () => {
    const before = Date.now();
    await add('locked', { url: slow.url, key: 'gwk_wrong' });
    expect((await decide()).decision.service.attempts).toMatchObject([{ outcome: 'benched' }]);
    const { benched_until: until, reason } = await peerNamed('locked');
    expect(reason).toBe('authentication');
    expect(Date.parse(until ?? '')).toBeGreaterThanOrEqual(before + 300_000);
  });
});

test.each([
  ['ftp://example.com', 'url'],
  ['http://example.com', 'url'],
  ['https://user:secret@example.com', 'url'],
  ['https://example.com/?a=b', 'url'],
  ['https://169.254.169.254', 'url'],
])('%s is no address of a peer', async (url, param) => {
  const { status, body } = await add('bad', { url });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
});

test('this daemon is no peer of itself', async () => {
  expect((await add('self', { url: asking.url })).body.error.message).toContain('this daemon itself');
  const mirror = await startForwarder(asking.url);
  await add('mirror', { url: mirror.url });
  expect((await decide()).decision.service).toMatchObject({
    answered_by: 'engine',
    attempts: [{ source: 'peer:mirror', outcome: 'loop' }],
  });
  expect((await manage('peers/mirror/check', 'POST')).body).toMatchObject({ result: 'failed' });
  await mirror.close();
});

test('a peer that was never reached is named with the reason', async () => {
  await add('absent', { url: 'http://127.0.0.1:9' });
  expect((await decide()).decision.service).toMatchObject({
    answered_by: 'engine',
    attempts: [{ source: 'peer:absent', outcome: 'unreachable' }],
  });
});

test('a server without a card is asked for one of its models', async () => {
  const server = await startFakeDecider();
  server.answer = ({ path }) => {
    if (path === '/v1/models') return { json: { object: 'list', data: [{ id: 'kev-4b', object: 'model' }] } };
    return path === '/v1/systemone' ? engineAnswer(0.7) : undefined;
  };
  await add('plain', { url: server.url });
  const { decision } = await decide();
  expect(decision.answers[0]).toMatchObject({ probability: 0.7 });
  expect(server.requests.at(-1)?.body).toMatchObject({ model: 'kev-4b' });

  // The gateway itself does not know the model.
  const named = await decide({ model: 'kev-4b' });
  expect(named.decision.service).toMatchObject({ answered_by: 'peer:plain', requested_model: 'kev-4b' });
  expect((await decide({ model: 'kev-4b', order: null })).json.error.code).toBe('model_not_found');
  expect((await decide({ model: 'kev-5b' })).json.error.code).toBe('model_not_found');
  const { body: limited } = await manage('keys', 'POST', { limits: { models: ['sim/*'] } });
  const headers = { authorization: `Bearer ${limited.secret}` };
  expect((await decide({ model: 'kev-4b', headers })).json.error).toMatchObject({
    code: 'limit_reached',
    param: 'limits.models',
  });
  server.answer = ({ path }) => (path === '/v1/models' ? undefined : { status: 500, json: {} });
  const failed = await decide({ model: 'kev-4b' });
  expect([failed.status, failed.json.error.attempts]).toMatchObject([503, [{ source: 'peer:plain' }, {}]]);
  await server.close();
});

test('an answer that the peer calibrated is not calibrated again', async () => {
  await add('attic', { url: slow.url, key: slow.key });
  const fit = { model: 'model-1', type: 'predicate', temperature: 2 };
  const measured = { examples: 20, nll_before: 0.5, nll_after: 0.4 };
  const putOn = ({ url, login }: RunningDaemon) =>
    fetch(`${url}/v1/admin/decisions/calibrations`, {
      method: 'PUT',
      headers: { ...noKey, authorization: `Bearer ${login}` },
      body: JSON.stringify({ ...fit, ...measured }),
    });
  // At temperature 2 the odds of 0.2, one to four, become one to two.
  expect((await putOn(asking)).status).toBe(200);
  const here = (await decide()).decision;
  expect([here.answers[0], here.service.calibrated]).toMatchObject([
    { probability: expect.closeTo(1 / 3) },
    true,
  ]);
  expect((await putOn(slow)).status).toBe(200);
  const there = (await decide()).decision;
  expect([there.answers[0], there.service.calibrated]).toMatchObject([
    { probability: expect.closeTo(1 / 3) },
    true,
  ]);
});
