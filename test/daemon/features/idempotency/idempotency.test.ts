import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { RelayReply } from '../../../../src/daemon/base/handler.ts';
import { fingerprintOf } from '../../../../src/daemon/features/idempotency/fingerprint.ts';
import {
  type Claimed,
  Idempotency,
  type IdempotencySlot,
  type IdempotencyStore,
  type OnceCall,
  type StoredAnswer,
} from '../../../../src/daemon/features/idempotency/index.ts';
import { createDataSealer } from '../../../../src/daemon/features/vault/index.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const endpoint = { method: 'POST', path: '/v1/responses' };

// Loads the module first, since loading takes turns of the event loop that the tests do not count.
beforeAll(() => fingerprintOf(endpoint, {}));

interface Row {
  fingerprint: string;
  requestId: string;
  answer: StoredAnswer | undefined;
}

/** A minimal store in memory; `fails` names methods that cannot write. */
function memoryStore(fails: string[] = []) {
  const rows = new Map<string, Row>();
  const write = (name: string) => {
    if (fails.includes(name)) throw new ApiError('unavailable');
  };
  const store: IdempotencyStore = {
    async claim({ scope, key, fingerprint, requestId }): Promise<Claimed> {
      write('claim');
      const row = rows.get(scope + key);
      if (row?.answer) return { state: 'done', fingerprint: row.fingerprint, requestId: row.requestId };
      if (row) return { state: 'running', fingerprint: row.fingerprint };
      rows.set(scope + key, { fingerprint, requestId, answer: undefined });
      return { state: 'mine' };
    },
    async finish({ scope, key }, answer) {
      write('finish');
      (rows.get(scope + key) as Row).answer = answer;
    },
    async release({ scope, key }) {
      rows.delete(scope + key);
    },
    isRunning: async ({ scope, key }) => rows.has(scope + key) && !rows.get(scope + key)?.answer,
    answer: async (scope, key) => rows.get(scope + key)?.answer,
    releaseLeft: async () => 0,
    removeExpired: async () => 0,
  };
  return { store, rows };
}

function make(fails?: string[], others = false) {
  const world = fakeWorld();
  const { store, rows } = memoryStore(fails);
  const warnings: string[] = [];
  const log = { warn: (_details: object, message: string) => void warnings.push(message) };
  const sealer = createDataSealer(new Uint8Array(32), world.randomBytes);
  const idempotency = new Idempotency({ store, sealer, hasOthers: () => others, world, log });
  let calls = 0;
  const call = (changes: Partial<OnceCall> = {}): OnceCall => {
    calls += 1;
    return {
      caller: { kind: 'anonymous' },
      requestId: `req_${calls}`,
      headers: { 'idempotency-key': 'once' },
      body: { model: 'm' },
      isStreamed: false,
      signal: new AbortController().signal,
      remoteAddress: '127.0.0.1',
      endpoint,
      ...changes,
    };
  };
  return { idempotency, world, rows, warnings, call };
}

const answers = (text: string) => async () => new RelayReply({ 'x-service-model': 'm' }, text);
const never = () => new Promise<RelayReply>(() => {});
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('a call whose key another daemon has claimed', () => {
  /** Two daemons with one store. */
  const two = async () => {
    const both = make([], true);
    const { idempotency, rows, call } = both;
    // As another daemon claims it.
    await idempotency.once(call(), answers('first'));
    const [row] = rows.values();
    if (!row) throw new Error('it was not claimed');
    const { answer } = row;
    row.answer = undefined;
    const waits = async () => {
      while (both.world.sleeping() === 0) await turns();
    };
    return { ...both, row, answer, waits };
  };

  test('waits for its answer', async () => {
    const { idempotency, world, row, answer, call, waits } = await two();
    const asked = idempotency.once(call(), never) as Promise<RelayReply>;
    await waits();
    await world.advance(60_000);
    row.answer = answer;
    await world.advance(250);
    const reply = await asked;
    expect(Buffer.from(reply.body).toString()).toBe('first');
    expect(reply.headers).toMatchObject({ 'idempotent-replayed': 'true' });
  });

  test('runs once the other has given the key up', async () => {
    const { idempotency, world, rows, call, waits } = await two();
    const asked = idempotency.once(call(), answers('second')) as Promise<RelayReply>;
    await waits();
    await world.advance(1000);
    rows.clear();
    await world.advance(250);
    expect(Buffer.from((await asked).body).toString()).toBe('second');
  });

  test('gets `conflict` if it takes too long', async () => {
    const { idempotency, world, call, waits } = await two();
    const asked = idempotency.once(call({ waitMs: 60_000 }), never);
    const refused = expect(asked).rejects.toMatchObject({ code: 'conflict' });
    await waits();
    await world.advance(60_000);
    await refused;
  });
});

describe('an answer that is stored with its settlement', () => {
  /** The recorded answer is in the store, as if written by the settlement. */
  const placing = (rows: Map<string, Row>, placed: RelayReply, given = placed) => {
    return async (_signal: AbortSignal, slot?: IdempotencySlot) => {
      const kept = slot?.record(placed);
      if (kept) (rows.get(kept.scope + kept.key) as Row).answer = kept;
      return given;
    };
  };

  test('is not written again', async () => {
    const { idempotency, rows, warnings, call } = make(['finish']);
    const reply = new RelayReply({ a: '1' }, 'made');
    await idempotency.once(call(), placing(rows, reply));
    expect(warnings).toEqual([]);
    expect((await idempotency.once(call(), never)).headers).toMatchObject({ 'idempotent-replayed': 'true' });
  });

  test('has the receipt of a payment, also if nothing is written after the settlement', async () => {
    const { idempotency, warnings, call } = make(['finish']);
    const receipt = { 'payment-receipt': 'paid' };
    await idempotency.once(call(), async (_signal, slot) => {
      slot?.addHeaders(receipt);
      const reply = new RelayReply({ a: '1' }, 'made');
      expect(slot?.record(reply)?.headers).toEqual({ a: '1', ...receipt });
      return reply.withHeaders(receipt);
    });
    expect(warnings).toEqual([]);
  });

  test('is replaced by the returned one if that differs', async () => {
    const { idempotency, rows, call } = make();
    const given = new RelayReply({ a: '1' }, 'made, and not stored');
    await idempotency.once(call(), placing(rows, new RelayReply({ a: '1' }, 'made'), given));
    const twin = (await idempotency.once(call(), never)) as RelayReply;
    expect(Buffer.from(twin.body).toString()).toBe('made, and not stored');
  });

  test('is not stored if it is too long', async () => {
    const { idempotency, rows, call } = make();
    const long = new RelayReply({}, 'x'.repeat(16 * 1024 * 1024 + 1));
    await idempotency.once(call(), placing(rows, long));
    expect(rows.size).toBe(0);
  });
});

describe('a call with a key', () => {
  test.each([
    ['ten minutes', {}, 10 * 60_000],
    ['as long as its call says', { waitMs: 25_000 }, 25_000],
  ])('is abandoned by a duplicate that has waited for %s', async (_, changes, ms) => {
    const { idempotency, world, call } = make();
    void idempotency.once(call(changes), never);
    await turns();
    const twin = idempotency.once(call(changes), never);
    twin.catch(() => {});
    await turns();
    await world.advance(ms - 1);
    expect(world.sleeping()).toBe(1);
    await world.advance(1);
    await expect(twin).rejects.toMatchObject({ code: 'conflict', retryAfterSeconds: 5 });
  });

  test('is abandoned only by the duplicate whose client leaves', async () => {
    const { idempotency, world, call } = make();
    const first = Promise.withResolvers<RelayReply>();
    const leading = idempotency.once(call(), () => first.promise);
    await turns();
    const leaving = new AbortController();
    const twin = idempotency.once(call({ signal: leaving.signal }), never);
    const other = idempotency.once(call(), never);
    await turns();
    leaving.abort('client-left');
    await expect(twin).rejects.toMatchObject({ code: 'unavailable' });
    first.resolve(new RelayReply({}, 'made'));
    expect((await leading).constructor).toBe(RelayReply);
    expect((await other).headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-service-replay-of': 'req_1',
    });
    await turns();
    expect(world.sleeping()).toBe(0);
  });

  test('that fails also fails for its duplicates, and can be retried', async () => {
    const { idempotency, call } = make();
    const first = Promise.withResolvers<RelayReply>();
    const all = [idempotency.once(call(), () => first.promise), idempotency.once(call(), never)];
    await turns();
    first.reject(new ApiError('upstream_failed'));
    for (const { status } of await Promise.allSettled(all)) expect(status).toBe('rejected');
    const again = (await idempotency.once(call(), answers('now'))) as RelayReply;
    expect(Buffer.from(again.body as Uint8Array).toString()).toBe('now');
  });

  test('is answered if its answer cannot be stored, and its key is released', async () => {
    const { idempotency, rows, warnings, call } = make(['finish']);
    const reply = (await idempotency.once(call(), answers('made'))) as RelayReply;
    expect(Buffer.from(reply.body as Uint8Array).toString()).toBe('made');
    expect([rows.size, warnings.length]).toEqual([0, 1]);
  });

  test('does not start if its key cannot be claimed', async () => {
    const { idempotency, call } = make(['claim']);
    let begun = 0;
    const made = idempotency.once(call(), async () => {
      begun += 1;
      return new RelayReply({}, '');
    });
    await expect(made).rejects.toMatchObject({ code: 'unavailable' });
    expect(begun).toBe(0);
  });

  test('that another process runs gets a conflict with Retry-After', async () => {
    const { idempotency, rows, call } = make();
    const body = { model: 'm' };
    const fingerprint = await fingerprintOf(endpoint, body);
    rows.set('address:loopbackonce', { fingerprint, requestId: 'req_0', answer: undefined });
    await expect(idempotency.once(call({ body }), never)).rejects.toMatchObject({ code: 'conflict' });
    const other = idempotency.once(call({ body: { model: 'n' } }), never);
    await expect(other).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  test('outlives its client, and ends when the daemon’s grace period is over', async () => {
    const { idempotency, world, call } = make();
    const leaving = new AbortController();
    let seen: AbortSignal | undefined;
    const made = idempotency.once(call({ signal: leaving.signal }), (signal) => {
      seen = signal;
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new ApiError('unavailable'))),
      );
    });
    made.catch(() => {});
    await turns();
    leaving.abort('client-left');
    expect(seen?.aborted).toBe(false);
    const draining = idempotency.drain(25_000);
    await world.advance(24_999);
    expect(seen?.aborted).toBe(false);
    await world.advance(1);
    await draining;
    expect(seen?.reason).toBe('draining');
    await expect(made).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('without a key, or as a stream, is not affected', async () => {
    const { idempotency, rows, call } = make();
    for (const changes of [{ headers: {} }, { isStreamed: true }]) {
      const reply = new RelayReply({}, 'as it is');
      expect(await idempotency.once(call(changes), async () => reply)).toBe(reply);
    }
    expect(rows.size).toBe(0);
  });

  test('whose answer contains a secret is stored sealed, and replayed in clear', async () => {
    const { idempotency, rows, call } = make();
    await idempotency.once(call({ isSecret: true }), answers('proof of payment'));
    for (const { answer } of rows.values()) {
      expect(Buffer.from(answer?.body ?? '').toString()).toMatch(/^[\w-]{40,}$/);
    }
    const twin = (await idempotency.once(call({ isSecret: true }), never)) as RelayReply;
    expect(Buffer.from(twin.body).toString()).toBe('proof of payment');
  });

  test('is scoped to the access token', async () => {
    const { idempotency, call } = make();
    const token = (tokenId: string): OnceCall['caller'] => ({
      kind: 'token',
      tokenId,
      userId: 'usr_1',
      workspaceId: 'ws_1',
      abilities: new Set(['*']),
      expiresAt: null,
      revoked: new AbortController().signal,
    });
    await idempotency.once(call({ caller: token('tok_1') }), answers('first'));
    const other = (await idempotency.once(call({ caller: token('tok_2') }), answers('second'))) as RelayReply;
    expect(Buffer.from(other.body).toString()).toBe('second');
  });

  test('is scoped to the address of an anonymous caller; loopback counts as one', async () => {
    const { idempotency, rows, call } = make();
    for (const remoteAddress of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '10.0.0.2'])
      await idempotency.once(call({ remoteAddress }), answers('made'));
    expect([...rows.keys()]).toEqual([
      'address:loopbackonce',
      'address:10.0.0.1once',
      'address:10.0.0.2once',
    ]);
  });
});

describe('the fingerprint of a request', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffled(member)]),
    );
  };
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

  test('is the same for equal bodies only', async () => {
    await fc.assert(
      fc.asyncProperty(json, json, async (body, other) => {
        const found = await fingerprintOf(endpoint, body);
        expect(found).toMatch(/^[0-9a-f]{64}$/);
        expect(await fingerprintOf(endpoint, shuffled(body))).toBe(found);
        const isSame = JSON.stringify(sorted(body)) === JSON.stringify(sorted(other));
        expect((await fingerprintOf(endpoint, other)) === found).toBe(isSame);
        expect(await fingerprintOf({ ...endpoint, path: '/v1/chat/completions' }, body)).not.toBe(found);
      }),
    );
  });

  test('fails for a body without a canonical form', async () => {
    for (const body of [{ text: '\ud800' }, { number: Number.POSITIVE_INFINITY }])
      await expect(fingerprintOf(endpoint, body)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return { members: members.sort(([a], [b]) => (a < b ? -1 : 1)) };
}
