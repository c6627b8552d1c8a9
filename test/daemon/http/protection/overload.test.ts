import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement, StreamReply } from '../../../../src/daemon/base/handler.ts';
import { type LoadSample, Overload } from '../../../../src/daemon/http/protection/overload.ts';
import { anEndpoint, aServer, echo, ping } from '../http-fixture.ts';

const calm: LoadSample = {
  loopDelayMs: 2,
  memoryShare: 0.1,
  heapShare: 0.1,
  connectionsShare: 0.1,
  isDiskFull: false,
};

function afterLooks(...samples: Partial<LoadSample>[]): Overload {
  const overload = new Overload();
  for (const sample of samples) overload.sample({ ...calm, ...sample });
  return overload;
}

const late = { loopDelayMs: 300 };

describe('the load', () => {
  test('is normal while the loop is late for less than five seconds in a row', () => {
    expect(afterLooks(late, late, late, late).load).toBe('well');
    expect(afterLooks(late, late, late, late, calm, late).load).toBe('well');
    expect(afterLooks(late, late, late, late, late).load).toBe('busy');
    expect(afterLooks(late, late, late, late, late, calm).load).toBe('well');
  });

  test('is overwhelmed when the loop is a second late three times in a row', () => {
    const stuck = { loopDelayMs: 1_001 };
    expect(afterLooks({ loopDelayMs: 5_000 }).load).toBe('well');
    expect(afterLooks(stuck, stuck, calm, stuck).load).toBe('well');
    expect(afterLooks(stuck, stuck, stuck).load).toBe('overwhelmed');
    expect(afterLooks(stuck, stuck, stuck, calm).load).toBe('well');
  });

  test('is overwhelmed when the heap is full three times in a row, although it was collected before the last', () => {
    const full = { heapShare: 0.86 };
    expect(afterLooks(full)).toMatchObject({ load: 'well', needsCollection: false });
    expect(afterLooks(full, full)).toMatchObject({ load: 'well', needsCollection: true });
    expect(afterLooks(full, full, calm)).toMatchObject({ load: 'well', isHeapFull: false });
    expect(afterLooks(full, full, full)).toMatchObject({ load: 'overwhelmed', isHeapFull: true });
    expect(afterLooks(full, full, full, calm).load).toBe('well');
    const collected = Array.from({ length: 100 }, (_, at) => afterLooks(...Array(at + 1).fill(full)));
    expect(collected.filter(({ needsCollection }) => needsCollection)).toHaveLength(4);
  });

  test.each([
    [{ memoryShare: 0.71 }, 'busy'],
    [{ connectionsShare: 0.81 }, 'busy'],
    [{ memoryShare: 0.86 }, 'overwhelmed'],
    [{ isDiskFull: true }, 'overwhelmed'],
    [{ memoryShare: 0.69, connectionsShare: 0.79, loopDelayMs: 199 }, 'well'],
  ])('with %j is %s', (sample, load) => {
    expect(afterLooks(sample).load).toBe(load);
  });
});

const streaming = implement(
  anEndpoint({
    id: 'streaming',
    path: '/v1/stream',
    body: Type.Object({ stream: Type.Optional(Type.Boolean()) }),
    stream: { event: Type.Unknown(), done: false, always: false },
  }),
  async ({ body }) =>
    (body as { stream?: boolean } | undefined)?.stream
      ? new StreamReply(
          {},
          (async function* () {
            yield 'data: {}\n\n';
          })(),
        )
      : {},
);

const revoke = implement(
  anEndpoint({ id: 'revoke', method: 'DELETE', path: '/v1/key', underLoad: 'kept' }),
  async () => ({ deleted: true }),
);

describe('a server', () => {
  async function statuses(overload: Overload) {
    const { server } = await aServer([echo, ping, streaming, revoke], { overload });
    const post = (url: string, body: object) =>
      server.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify(body),
      });
    const stream = await post('/v1/stream', { stream: true });
    return {
      stream,
      statuses: [
        stream.statusCode,
        (await post('/v1/stream', {})).statusCode,
        (await server.inject({ method: 'GET', url: '/v1/ping' })).statusCode,
        (await server.inject({ method: 'DELETE', url: '/v1/key' })).statusCode,
      ],
    };
  }

  test('accepts everything under normal load', async () => {
    expect((await statuses(new Overload())).statuses).toEqual([200, 200, 200, 200]);
  });

  test('rejects new streams when busy, with Retry-After and without keep-alive', async () => {
    const { stream, statuses: all } = await statuses(afterLooks({ memoryShare: 0.8 }));
    expect(all).toEqual([503, 200, 200, 200]);
    expect(stream.headers['retry-after']).toBe('2');
    expect(stream.headers.connection).toBe('close');
    expect(stream.json().error).toMatchObject({ type: 'unavailable', code: 'unavailable' });
  });

  test('accepts only calls that reduce load when overwhelmed', async () => {
    expect((await statuses(afterLooks({ memoryShare: 0.9 }))).statuses).toEqual([503, 503, 503, 200]);
  });

  test('accepts only what reads, and calls that reduce load, when the disk is full', async () => {
    const { stream, statuses: all } = await statuses(afterLooks({ isDiskFull: true }));
    expect(all).toEqual([503, 503, 200, 200]);
    expect(stream.json().error.message).toBe('The daemon’s disk is full.');
    const overwhelmed = await statuses(afterLooks({ isDiskFull: true, memoryShare: 0.9 }));
    expect(overwhelmed.statuses).toEqual([503, 503, 503, 200]);
  });
});
