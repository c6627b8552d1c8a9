import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { drips, hangs, neverEnds, stallsAfter, words } from '../support/chaos-behaviours.ts';
import { chaosConfig, formatPairs } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { readLedger } from '../support/ledger.ts';
import { callModel, completeCall, type ModelAnswer, parseStream } from '../support/model-client.ts';

let chaos: ChaosUpstream;

beforeAll(async () => {
  chaos = await startChaosUpstream(drips(20));
});

afterAll(async () => {
  await chaos.close();
});

/** A daemon that waits `patientMs` for running calls, and `hurriedMs` once it is asked again. */
async function start(
  drain: { patientMs: number; hurriedMs: number },
  onTestFinished: TestContext['onTestFinished'],
): Promise<ChildDaemon> {
  const daemon = await startChildDaemon({
    config: chaosConfig(chaos.baseUrl),
    env: { DRAIN_MS: `${drain.patientMs},${drain.hurriedMs}` },
  });
  onTestFinished(() => daemon.remove());
  return daemon;
}

interface Running {
  wire: 'responses' | 'chat';
  stream: boolean;
  answer: ModelAnswer;
}

const kinds = { drips: drips(20), stalls: stallsAfter(8), hangs: hangs(), floods: neverEnds() };
type Kind = keyof typeof kinds;
let models = 0;

/** A model of that kind which no other test uses. */
function modelOf(kind: Kind): string {
  models += 1;
  chaos.on(`${kind}-${models}`, kinds[kind]);
  return `${kind}-${models}`;
}

/** Starts `count` calls for each pair of formats and waits until they are under way. */
async function callsUnderWay(daemon: ChildDaemon, kind: Kind, count: number): Promise<Running[]> {
  const model = modelOf(kind);
  const running = formatPairs.flatMap(({ wire, upstream }) =>
    Array.from({ length: count }, (_, index) => {
      const stream = kind === 'hangs' ? false : index % 4 > 0;
      return { wire, stream, answer: callModel(daemon, { wire, stream, model: `${upstream}/${model}` }) };
    }),
  );
  await eventually('all are asked', () => chaos.callsOf(model).length === running.length);
  await Promise.all(running.filter(({ stream }) => stream).map(({ answer }) => answer.receives('The')));
  return running;
}

function expectStopped({ wire, stream, answer }: Running): void {
  if (stream) {
    const { errors, ends, doneMarks, isDoneLast } = parseStream(answer.text);
    expect({ errors, doneMarks, isDoneLast }).toEqual({
      errors: ['unavailable'],
      doneMarks: 1,
      isDoneLast: true,
    });
    expect(ends).toEqual(wire === 'responses' ? ['failed'] : []);
  } else {
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text).error).toMatchObject({ code: 'unavailable' });
  }
}

/** The next start has nothing to recover. */
function expectCleanFolder({ home }: ChildDaemon, calls: number): void {
  const { holds, faults, usage } = readLedger(home);
  expect({ holds, faults }).toEqual({ holds: [], faults: [] });
  expect(usage).toHaveLength(calls);
  expect(existsSync(join(home, 'daemon.json'))).toBe(false);
  const log = join(home, 'gateway.db-wal');
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
}

describe.concurrent('a daemon that is asked to stop', () => {
  test('rejects new calls, lets running ones finish, cancels the rest when asked twice, and settles all', async ({
    onTestFinished,
  }) => {
    const daemon = await start({ patientMs: 600_000, hurriedMs: 200 }, onTestFinished);
    const soonOver = await callsUnderWay(daemon, 'drips', 12);
    const stalled = await callsUnderWay(daemon, 'stalls', 12);
    const waiting = await callsUnderWay(daemon, 'hangs', 3);
    daemon.signal('SIGTERM');
    const refused = await eventually('new calls are refused', async () => {
      const answer = await completeCall(daemon, { wire: 'chat', model: 'chat/late', stream: true });
      return answer.status === 503 && answer;
    });
    expect(JSON.parse(refused.text).error).toMatchObject({ type: 'unavailable', code: 'unavailable' });
    expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': expect.anything() });
    await Promise.all(soonOver.map(({ answer }) => answer.ended));
    daemon.signal('SIGINT');
    expect(await daemon.ended).toBe(0);
    await Promise.all([...stalled, ...waiting].map(({ answer }) => answer.ended));
    for (const { answer, stream } of soonOver) {
      expect(answer.status).toBe(200);
      if (stream)
        expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [], isDoneLast: true });
      else expect(answer.text).toContain('flasks');
    }
    for (const running of [...stalled, ...waiting]) expectStopped(running);
    expectCleanFolder(
      daemon,
      readLedger(daemon.home).usageOf('chat/late').length + soonOver.length + stalled.length + waiting.length,
    );
    const { usage } = readLedger(daemon.home);
    for (const { model, status, charged } of usage) {
      expect(status).toBe(/\/(drips-\d+|late)$/.test(model) ? 'completed' : 'failed');
      expect(charged).toBeGreaterThan(0);
    }
  });

  test('cancels calls that still run at the deadline', async ({ onTestFinished }) => {
    const daemon = await start({ patientMs: 200, hurriedMs: 100 }, onTestFinished);
    const stalled = await callsUnderWay(daemon, 'stalls', 4);
    daemon.signal('SIGTERM');
    expect(await daemon.ended).toBe(0);
    await Promise.all(stalled.map(({ answer }) => answer.ended));
    for (const running of stalled) expectStopped(running);
    expectCleanFolder(daemon, stalled.length);
  });

  test('does not wait for stalled readers or followers of events', async ({ onTestFinished }) => {
    const daemon = await start({ patientMs: 300, hurriedMs: 100 }, onTestFinished);
    const following = await fetch(`${daemon.url}/v1/events`, {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(following.status).toBe(200);
    const more = { max_output_tokens: 100_000_000 };
    const floods = modelOf('floods');
    const slow = Array.from({ length: 4 }, () =>
      callModel(daemon, { wire: 'responses', model: `chat/${floods}`, stream: true, more }),
    );
    for (const answer of slow) {
      await answer.receives('again');
      answer.stopReading();
    }
    let before = -1;
    await eventually('the provider is held up', async () => {
      const all = chaos.callsOf(floods).map(({ socket }) => socket.bytesWritten - socket.writableLength);
      const now = all.reduce((sum, bytes) => sum + bytes, 0);
      const isStill = now === before;
      before = now;
      await completeCall(daemon, { wire: 'chat', model: 'chat/other', stream: true });
      return isStill;
    });
    const others = readLedger(daemon.home).usageOf('chat/other').length;
    daemon.signal('SIGTERM');
    expect(await daemon.ended).toBe(0);
    expectCleanFolder(daemon, slow.length + others);
    await following.body?.cancel().catch(() => {});
    for (const answer of slow) answer.disconnect();
  });
});

describe.concurrent('a daemon whose writer thread dies', () => {
  test('fails every call and exits with 70; the next start settles the rest', async ({ onTestFinished }) => {
    const daemon = await start({ patientMs: 600_000, hurriedMs: 600_000 }, onTestFinished);
    const stalled = await callsUnderWay(daemon, 'stalls', 4);
    const waiting = await callsUnderWay(daemon, 'hangs', 2);
    const underWay = stalled.length + waiting.length;
    // The upstream is called while the hold is being written.
    await eventually('all holds are durable', () => readLedger(daemon.home).holds.length === underWay);
    daemon.signal('SIGUSR2');
    const late = callModel(daemon, { wire: 'chat', model: 'chat/drips', stream: true });
    expect(await daemon.ended).toBe(70);
    await Promise.all([...stalled, ...waiting, { answer: late }].map(({ answer }) => answer.ended));
    for (const running of [...stalled, ...waiting]) expectStopped(running);
    // It may begin before the signal arrives.
    if (late.status === 200) expectStopped({ wire: 'chat', stream: true, answer: late });
    else expect([0, 503]).toContain(late.status);

    const next = await startChildDaemon({ home: daemon.home });
    const { holds, faults, usage } = readLedger(daemon.home);
    expect({ holds, faults }).toEqual({ holds: [], faults: [] });
    expect(usage.length).toBeGreaterThanOrEqual(underWay);
    for (const { status } of usage) expect(status).toBe('interrupted');
    next.signal('SIGTERM');
    expect(await next.ended).toBe(0);
  });
});
