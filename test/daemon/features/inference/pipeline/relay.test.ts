import { describe, expect, test } from 'vitest';
import { AnswerPlace } from '../../../../../src/daemon/features/idempotency/index.ts';
import { type UpstreamAnswer, UpstreamFailure } from '../../../../../src/daemon/features/inference/index.ts';
import type { CancelReason } from '../../../../../src/daemon/features/inference/pipeline/cancellation.ts';
import { Meter } from '../../../../../src/daemon/features/inference/pipeline/meter.ts';
import { createOutput } from '../../../../../src/daemon/features/inference/pipeline/output.ts';
import {
  relayStream,
  settleWhole,
  wholeAnswer,
} from '../../../../../src/daemon/features/inference/pipeline/relay.ts';
import type { StreamRenderer } from '../../../../../src/daemon/features/inference/pipeline/renderer.ts';
import type {
  InferenceDeps,
  StartedCall,
} from '../../../../../src/daemon/features/inference/pipeline/start-call.ts';
import { createAdmission, type Settlement } from '../../../../../src/daemon/features/metering/index.ts';
import { RelayReply } from '../../../../../src/daemon/handler.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';
import { aHold } from '../../../../storage/records.ts';
import { fakeWorld } from '../../../../support/fake-world.ts';
import { offerOf, routeOf } from '../../../../support/routing.ts';

interface Scene {
  answer?: UpstreamAnswer;
  ended?: CancelReason;
  settle?: (settlement: Settlement) => Promise<number>;
}

const document: UpstreamAnswer = {
  kind: 'json',
  wire: 'chat',
  bytes: Buffer.from('{}'),
  json: {},
  tokens: undefined,
  finish: 'stop',
};

/** A call that a provider has started to answer, and what became of it. */
async function started({ answer = document, ended, settle }: Scene = {}) {
  const world = fakeWorld();
  const settlements: Settlement[] = [];
  const store = {
    hold: async () => {},
    settle: settle ?? (async (settlement: Settlement) => settlements.push(settlement)),
  };
  const admission = createAdmission({ store, state: () => ({ writable: true, reason: undefined }) });
  const meter = new Meter({
    admission,
    keepProgress: async () => {},
    clock: world,
    marginPpm: 0,
    hold: await admission.hold(aHold('req_1')),
    startedAt: 0,
    promptTokens: 10,
    outputTokensMax: 100,
    onSettled: () => {},
  });
  const route = routeOf(offerOf('a', { model: 'a/b', prices: null }));
  const output = createOutput(
    () => 'msg_1',
    () => 'sealed',
  );
  meter.answerStarted(route, output);
  let released = 0;
  const call: StartedCall = {
    answer,
    route,
    meter,
    output,
    finishRoute: () => {},
    abort: new AbortController(),
    ended: () => ended,
    release: () => {
      released += 1;
    },
  };
  const deps = { log: { warn: () => {} } } as unknown as InferenceDeps;
  return { deps, call, settlements, released: () => released };
}

const failing = (error: unknown) => async () => {
  throw error;
};

describe('a whole answer that fails', () => {
  const broken = new UpstreamFailure('broken', 'a broke off');
  const limited = new UpstreamFailure('rate-limited', 'a limits the rate');
  const ours = new TypeError('x is undefined');
  const unwritable = new ApiError('unavailable', { message: 'The disk is full.' });

  test.each([
    ['by its provider', broken, undefined, 'upstream_failed', 'failed'],
    ['by the limit of its provider', limited, undefined, 'rate_limited', 'failed'],
    ['by a fault of ours', ours, undefined, 'server_error', 'failed'],
    ['by a failure with a name', unwritable, undefined, 'unavailable', 'failed'],
    ['as the client left', broken, 'client-left', 'unavailable', 'canceled'],
    ['as the key was revoked', broken, 'revoked', 'unauthenticated', 'canceled'],
    ['as the daemon stops', broken, 'draining', 'unavailable', 'failed'],
  ] as const)('%s, is told and settled as that', async (_how, error, ended, code, status) => {
    const { deps, call, settlements, released } = await started({ ended });
    await expect(wholeAnswer(deps, call, failing(error))).rejects.toMatchObject({ code });
    const errorCode = ended === 'client-left' ? null : code;
    expect(settlements).toMatchObject([{ usage: { status, errorCode } }]);
    expect(released()).toBe(1);
  });

  test('to be settled, is told as what kept it', async () => {
    const { deps, call } = await started({ settle: failing(unwritable) });
    const make = () => call.meter.settle({ status: 'completed' });
    await expect(wholeAnswer(deps, call, make)).rejects.toBe(unwritable);
  });
});

describe('a stream', () => {
  const renderer: StreamRenderer = {
    head: () => 'head ',
    batch: () => 'batch ',
    finish: () => 'end',
    fail: ({ code }) => `failed: ${code}`,
  };
  const batches = (...all: unknown[]) =>
    ({ kind: 'stream', batches: from(all) }) as unknown as UpstreamAnswer;

  async function* from(all: unknown[]) {
    for (const each of all) {
      if (each instanceof Error) throw each;
      yield each;
    }
  }

  const read = async (stream: AsyncIterable<string>) => {
    let text = '';
    for await (const piece of stream) text += piece;
    return text;
  };

  test('is settled once and let go of, also when what writes it fails at its very beginning', async () => {
    const headless = {
      ...renderer,
      head: () => {
        throw new Error('no head');
      },
    };
    const { deps, call, settlements, released } = await started({ answer: batches({ events: [] }) });
    expect(await read(relayStream(deps, call, { renderer: headless }))).toBe('failed: server_error');
    expect(settlements).toMatchObject([{ usage: { status: 'failed', errorCode: 'server_error' } }]);
    expect([released(), call.abort.signal.aborted]).toEqual([1, true]);
  });

  test('tells a failure after what was written before it', async () => {
    const answer = batches({ events: [] }, new UpstreamFailure('broken', 'a broke off'));
    const { deps, call, settlements } = await started({ answer });
    const text = await read(relayStream(deps, call, { renderer }));
    expect(text).toBe('head batch failed: upstream_failed');
    expect(settlements).toMatchObject([{ usage: { status: 'failed', errorCode: 'upstream_failed' } }]);
  });

  test('whose reader leaves is settled as canceled', async () => {
    const { deps, call, settlements } = await started({ answer: batches({ events: [] }, { events: [] }) });
    const stream = relayStream(deps, call, { renderer });
    expect(await stream.next()).toMatchObject({ value: 'head batch ' });
    await stream.return(undefined);
    expect(settlements).toMatchObject([{ usage: { status: 'canceled' } }]);
  });

  test('whose settlement cannot be written ends with a failure', async () => {
    const full = new ApiError('unavailable', { message: 'The disk is full.' });
    const { deps, call } = await started({ answer: batches({ events: [] }), settle: failing(full) });
    expect(await read(relayStream(deps, call, { renderer }))).toBe('head batch failed: unavailable');
  });
});

test('a whole answer that has a place is written once, and given as it was kept', async () => {
  const scene = await started();
  const place = new AnswerPlace({ scope: 's', key: 'k' });
  const rendered: RelayReply[] = [];
  const render = () => {
    rendered.push(new RelayReply({}, 'made'));
    return rendered.at(-1) as RelayReply;
  };
  const { reply } = await settleWhole(scene.call, { render, place });
  expect(rendered).toEqual([reply]);
  expect(scene.settlements[0]?.answer).toMatchObject({ key: 'k', body: Buffer.from('made') });
  expect(place.judge(reply as RelayReply).state).toBe('done');
});
