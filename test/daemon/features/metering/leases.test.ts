import { describe, expect, test } from 'vitest';
import { LeaseAuthority } from '../../../../src/daemon/features/metering/leases/authority.ts';
import {
  type Claim,
  LeaseMember,
  type Outcome,
} from '../../../../src/daemon/features/metering/leases/member.ts';
import type {
  EarlierCall,
  QuotaFacts,
  ToAuthority,
  ToMember,
  Wanted,
} from '../../../../src/daemon/features/metering/leases/messages.ts';
import { Quota } from '../../../../src/daemon/features/metering/leases/quota.ts';
import { dayMs, morning } from '../../../storage/records.ts';

/** An authority for a limit, and what it sent to each member since the last look. */
function authorityOf(limit: number, members: readonly string[]) {
  const sent: [member: string, message: ToMember][] = [];
  const loads: (readonly EarlierCall[])[] = [];
  let ask = 0;
  const authority = new LeaseAuthority<string>({
    clock: { now: () => morning, elapsed: () => 0 },
    async load(_subject, calls) {
      loads.push(calls);
      return { limit, span: 'none', spent: 0 };
    },
  });
  for (const member of members) authority.join(member, (message) => sent.push([member, message]));
  const look = async () => {
    await Promise.resolve();
    await Promise.resolve();
    return sent.splice(0);
  };
  const asks = (member: string, need: number, more: Partial<Wanted> = {}) => {
    ask += 1;
    const wanted = [{ subject: 'key', need, want: need, handedIn: 0, ...more }];
    authority.receive(member, { kind: 'ask', ask, wanted });
  };
  /** Answers what members are asked to count: nothing. */
  const count = async () => {
    for (const [member, message] of await look()) {
      if (message.kind !== 'count') continue;
      authority.receive(member, { ...message, kind: 'counted', calls: [], amount: 0 });
    }
    return look();
  };
  const answer = (member: string, message: ToMember | undefined, amount: number) => {
    if (message?.kind !== 'recall') throw new TypeError(`${member} was not asked`);
    authority.receive(member, { ...message, kind: 'recalled', amount });
  };
  return { authority, loads, look, asks, count, answer };
}

const granted = (amount: number) => ({ kind: 'granted', granted: [{ subject: 'key', amount }] });

describe('the authority', () => {
  test('lends what a member wants, and exactly what it needs when several members could need the rest', async () => {
    const { asks, count, look } = authorityOf(1_000, ['a', 'b', 'c', 'd']);
    asks('a', 10, { want: 80 });
    expect(await count()).toMatchObject([['a', granted(80)]]);
    asks('a', 100, { want: 800 });
    expect(await look()).toMatchObject([['a', granted(100)]]);
  });

  test('asks a member again that was lent more while others answered', async () => {
    const { asks, count, look, answer } = authorityOf(100, ['a', 'b', 'c']);
    asks('c', 60);
    expect(await count()).toMatchObject([['c', granted(60)]]);
    asks('a', 45);
    asks('b', 50);
    const [forA, forB] = await look();
    answer('c', forA?.[1], 0);
    expect(await look()).toMatchObject([['a', { granted: [{ amount: 40, shortage: { out: 60 } }] }]]);
    answer('c', forB?.[1], 0);
    const again = await look();
    expect(again.map(([member, { kind }]) => [member, kind])).toEqual([
      ['c', 'recall'],
      ['a', 'recall'],
    ]);
    answer('c', again[0]?.[1], 10);
    expect(await look()).toEqual([]);
    answer('a', again[1]?.[1], 40);
    expect(await look()).toMatchObject([['b', granted(50)]]);
  });

  test('ignores what members counted before the limit ended', async () => {
    const { authority, asks, look, loads } = authorityOf(100, ['a']);
    asks('a', 10);
    const [first] = await look();
    authority.forget('key');
    const [, second] = await look();
    expect([first?.[1].kind, second?.[1].kind]).toEqual(['count', 'count']);
    const counted = (message: ToMember | undefined, amount: number) => {
      if (message?.kind !== 'count') throw new TypeError('nothing is counted');
      const calls = [{ requestId: `req_${amount}`, createdAt: morning }];
      authority.receive('a', { ...message, kind: 'counted', calls, amount });
    };
    counted(first?.[1], 5);
    await look();
    expect(loads).toEqual([]);
    counted(second?.[1], 7);
    expect(await look()).toMatchObject([['a', granted(10)]]);
    expect(loads).toEqual([[{ requestId: 'req_7', createdAt: morning }]]);
    expect(authority.factsOf('key')?.out).toBe(17);
  });

  test('takes back nothing of a limit that ended', async () => {
    const { authority, asks, count, look } = authorityOf(100, ['a', 'b']);
    asks('a', 50);
    await count();
    authority.forget('key');
    await look();
    asks('b', 10);
    authority.receive('a', { kind: 'given', subject: 'key', amount: 50 });
    expect(await count()).toMatchObject([['b', granted(10)]]);
    expect(authority.factsOf('key')).toMatchObject({ out: 10, spent: 0 });
  });

  test('reports that a limit could not be read, and reads it again for the next call', async () => {
    let isBroken = true;
    const sent: ToMember[] = [];
    const authority = new LeaseAuthority<string>({
      clock: { now: () => morning, elapsed: () => 0 },
      async load() {
        if (isBroken) throw new Error('the database is closed');
        return { limit: 100, span: 'none', spent: 0 };
      },
    });
    const member = new LeaseMember({
      send: (message) => queueMicrotask(() => authority.receive('a', message)),
      elapsed: () => 0,
    });
    authority.join('a', (message) => {
      sent.push(message);
      queueMicrotask(() => member.receive(message));
    });
    const claim = () => ({ money: ['key'], requests: [], amount: 10, fit: () => undefined });
    await expect(member.wait(claim)).rejects.toThrow('the database is closed');
    isBroken = false;
    expect(await member.wait(claim)).toMatchObject({ taken: { amount: 10 } });
  });
});

test('a member does not refuse a call because of a rest that another of its calls handed in', async () => {
  const sent: ToAuthority[] = [];
  const member = new LeaseMember({ send: (message) => sent.push(message), elapsed: () => 0 });
  const outcomes: (Outcome | undefined)[] = [];
  const wait = (index: number, money: string[], amount: number) => {
    const claim = (): Claim => ({ money, requests: [], amount, fit: () => undefined });
    void member.wait(claim).then((outcome) => {
      outcomes[index] = outcome;
    });
  };
  const grant = async (ask: number, amounts: Record<string, number>, shortage?: QuotaFacts) => {
    const all = Object.entries(amounts).map(([subject, amount]) => ({ subject, amount, shortage }));
    member.receive({ kind: 'granted', ask, granted: all });
    await Promise.resolve();
  };
  // The others wait for its answer.
  wait(0, ['key'], 10);
  wait(1, ['key'], 50);
  wait(2, ['key', 'balance'], 20);
  wait(3, ['key'], 30);
  await grant(1, { key: 10 });
  await grant(2, { key: 30 }, { limit: 100, spent: 60, out: 10, waitMs: undefined });
  expect(outcomes[1]).toMatchObject({ shortage: { subject: 'key', affordable: 30 } });
  expect(sent.at(-1)).toMatchObject({ kind: 'ask', wanted: [{ subject: 'key', handedIn: 30 }, {}] });
  expect(outcomes.slice(2)).toEqual([]);
  await grant(3, { key: 50, balance: 20 });
  expect(outcomes.slice(2)).toMatchObject([{ taken: { amount: 20 } }, { taken: { amount: 30 } }]);
});

test('a limit per day starts again with the day, and not when the clock is set back', () => {
  let now = morning;
  const clock = { now: () => now, elapsed: () => 0 };
  const quota = new Quota<string>({ limit: 100, span: 'day', spent: 30 }, clock);
  quota.lend('a', 50);
  quota.spend('a', 20);
  expect(quota.free).toBe(20);
  now -= 2 * dayMs;
  expect(quota.free).toBe(20);
  now += 3 * dayMs;
  // What is lent stays lent.
  expect(quota.free).toBe(70);
  now -= dayMs;
  expect(quota.free).toBe(70);
  expect(() => quota.lend('a', -40)).toThrow(RangeError);
});
