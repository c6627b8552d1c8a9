import { describe, expect, test } from 'vitest';
import { RelayReply } from '../../../../src/daemon/base/handler.ts';
import {
  answerWhole,
  relayStream,
  type WholeFormat,
} from '../../../../src/daemon/features/calls/answer-call.ts';
import type { CallDeps } from '../../../../src/daemon/features/calls/call-deps.ts';
import type { CancelReason } from '../../../../src/daemon/features/calls/cancellation.ts';
import { Meter } from '../../../../src/daemon/features/calls/meter.ts';
import { createOutput } from '../../../../src/daemon/features/calls/output-items.ts';
import type { StreamRenderer } from '../../../../src/daemon/features/calls/renderer.ts';
import type { StartedCall } from '../../../../src/daemon/features/calls/started-call.ts';
import { IdempotencySlot } from '../../../../src/daemon/features/idempotency/index.ts';
import type { Settlement } from '../../../../src/daemon/features/metering/index.ts';
import { type UpstreamAnswer, UpstreamFailure } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { aHold } from '../../../storage/records.ts';
import { admissionOver } from '../../../support/admission-over.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { offerOf, routeOf } from '../../../support/routing.ts';

interface Scene {
  answer?: UpstreamAnswer;
  canceled?: CancelReason;
  settle?: (settlement: Settlement) => Promise<number>;
}

const document: UpstreamAnswer = {
  kind: 'json',
  wire: 'chat',
  json: {},
  tokens: undefined,
  finish: 'stop',
};

/** A started call, with its settlements. */
async function started({ answer = document, canceled, settle }: Scene = {}) {
  const world = fakeWorld();
  const settlements: Settlement[] = [];
  const admission = admissionOver({
    settle: settle ?? (async (settlement) => settlements.push(settlement)),
  });
  const meter = new Meter({
    admission,
    saveProgress: async () => {},
    clock: world,
    marginPpm: 0,
    hold: await admission.hold(aHold('req_1')),
    startedAt: 0,
    prompt: { likely: 10, text: 0 },
    promptParam: 'input',
    outputTokensMax: 100,
    observers: [],
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
    canceled: () => canceled,
    capture: undefined,
    release: () => {
      released += 1;
    },
  };
  const deps = { log: { warn: () => {} } } as unknown as CallDeps;
  return { deps, call, settlements, released: () => released };
}

const failing = (error: unknown) => async () => {
  throw error;
};

const format: WholeFormat<string> = { render: () => 'rendered' };

/** A format that finds an answer unusable. */
const unusable = (error: unknown): WholeFormat<string> => ({
  ...format,
  check() {
    throw error;
  },
});

describe('a failed whole answer', () => {
  const broken = new UpstreamFailure('broken', 'the stream broke off');
  const limited = new UpstreamFailure('rate-limited', 'too many requests');
  const bug = new TypeError('x is undefined');
  const unwritable = new ApiError('unavailable', { message: 'The disk is full.' });

  test.each([
    ['a broken stream', broken, undefined, 'upstream_failed', 'failed'],
    ['a rate limit of the provider', limited, undefined, 'rate_limited', 'failed'],
    ['a bug', bug, undefined, 'server_error', 'failed'],
    ['an API error', unwritable, undefined, 'unavailable', 'failed'],
    ['a client that left', broken, 'client-left', 'unavailable', 'canceled'],
    ['a revoked key', broken, 'revoked', 'unauthenticated', 'failed'],
    ['a stopping daemon', broken, 'draining', 'unavailable', 'failed'],
  ] as const)(
    'after %s is reported and settled accordingly',
    async (_cause, error, canceled, code, status) => {
      const { deps, call, settlements, released } = await started({ canceled });
      await expect(answerWhole(deps, call, unusable(error))).rejects.toMatchObject({ code });
      const errorCode = canceled === 'client-left' ? null : code;
      expect(settlements).toMatchObject([{ usage: { status, errorCode } }]);
      expect(released()).toBe(1);
    },
  );

  test('whose settlement fails rejects with that failure', async () => {
    const { deps, call } = await started({ settle: failing(unwritable) });
    await expect(answerWhole(deps, call, format)).rejects.toBe(unwritable);
  });

  test.each([
    ['is settled as such once, although keeping it fails', undefined],
    ['is settled as such once, although rendering it fails', 'render'],
  ])('that was complete %s', async (_what, fails) => {
    const { deps, call, settlements, released } = await started();
    const faulty = fails
      ? {
          render: () => {
            throw bug;
          },
        }
      : { keep: failing(bug) };
    await expect(answerWhole(deps, call, { ...format, ...faulty })).rejects.toMatchObject({
      code: 'server_error',
    });
    expect(settlements).toMatchObject([{ usage: { status: 'completed' } }]);
    expect(released()).toBe(1);
  });

  test('is rendered and kept by a format that has failed answers', async () => {
    const { deps, call, settlements } = await started({
      answer: { ...document, failure: broken } as UpstreamAnswer,
    });
    const kept: unknown[] = [];
    const reply = await answerWhole(deps, call, {
      ...format,
      renderFailed: ({ code }) => `failed: ${code}`,
      keepCutShort: async ({ failure }) => void kept.push(failure?.code),
    });
    expect([reply, kept]).toEqual(['failed: upstream_failed', ['upstream_failed']]);
    expect(settlements).toMatchObject([{ usage: { status: 'failed' } }]);
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

  test('is settled once and released even if the renderer fails first', async () => {
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

  test('reports a failure after the text before it', async () => {
    const answer = batches({ events: [] }, new UpstreamFailure('broken', 'the stream broke off'));
    const { deps, call, settlements } = await started({ answer });
    const text = await read(relayStream(deps, call, { renderer }));
    expect(text).toBe('head batch failed: upstream_failed');
    expect(settlements).toMatchObject([{ usage: { status: 'failed', errorCode: 'upstream_failed' } }]);
  });

  test('is settled as canceled when the reader leaves', async () => {
    const { deps, call, settlements } = await started({ answer: batches({ events: [] }, { events: [] }) });
    const stream = relayStream(deps, call, { renderer });
    expect(await stream.next()).toMatchObject({ value: 'head batch ' });
    await stream.return(undefined);
    expect(settlements).toMatchObject([{ usage: { status: 'canceled' } }]);
  });

  test('ends with a failure when its settlement cannot be written', async () => {
    const full = new ApiError('unavailable', { message: 'The disk is full.' });
    const { deps, call } = await started({ answer: batches({ events: [] }), settle: failing(full) });
    expect(await read(relayStream(deps, call, { renderer }))).toBe('head batch failed: unavailable');
  });
});

test('a whole answer with a slot is rendered once and stored with its settlement', async () => {
  const scene = await started();
  const slot = new IdempotencySlot({ scope: 's', key: 'k' }, (answer) => answer);
  const replies: RelayReply[] = [];
  const render = () => {
    replies.push(new RelayReply({}, 'rendered'));
    return replies.at(-1) as RelayReply;
  };
  const reply = await answerWhole(scene.deps, scene.call, { render }, slot);
  expect(replies).toEqual([reply]);
  expect(scene.settlements[0]?.answer).toMatchObject({ key: 'k', body: Buffer.from('rendered') });
  expect(slot.decide(reply).state).toBe('done');
});

test('an answer that changed when it was kept is rendered again', async () => {
  const { deps, call } = await started();
  let version = 1;
  const reply = await answerWhole(
    deps,
    call,
    {
      render: () => `version ${version}`,
      keep: async () => {
        version = 2;
      },
      hasChanged: () => version === 2,
    },
    { record: () => undefined },
  );
  expect(reply).toBe('version 2');
});

describe('an answer whose keeping can be undone', () => {
  const scene = async (written: Promise<number>) => {
    const events: string[] = [];
    const { deps, call } = await started({
      settle: ({ usage }) => {
        events.push(`settling ${usage.status}`);
        return written;
      },
    });
    const answer = answerWhole(deps, call, {
      ...format,
      keep: async ({ finish }) => void events.push(`kept, ${finish}`),
      discard: async () => void events.push('discarded'),
    });
    return { answer, events };
  };

  test('is kept together with its settlement', async () => {
    const written = Promise.withResolvers<number>();
    const { answer, events } = await scene(written.promise);
    await expect.poll(() => events).toHaveLength(2);
    written.resolve(1);
    expect(await answer).toBe('rendered');
    expect(events).toEqual(['kept, stop', 'settling completed']);
  });

  test('is discarded when it cannot be settled', async () => {
    const full = new ApiError('unavailable', { message: 'The disk is full.' });
    const { answer, events } = await scene(Promise.reject(full));
    await expect(answer).rejects.toBe(full);
    expect(events).toEqual(['kept, stop', 'settling completed', 'discarded']);
  });
});
