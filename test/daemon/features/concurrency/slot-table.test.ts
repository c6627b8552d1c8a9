import { expect, test } from 'vitest';
import {
  type SlotLimit,
  SlotTable,
  type Way,
} from '../../../../src/daemon/features/concurrency/slot-table.ts';

function limitOf(name: string, calls: number, more: Partial<SlotLimit> = {}): SlotLimit {
  return { kind: 'provider', name, calls, queueMs: 30_000, queueMax: 512, ...more };
}

/** A table whose calls are named, and the order in which they got their slots. */
function rig() {
  const table = new SlotTable();
  const started: string[] = [];
  const ways = new Map<string, Way>();
  const start = (call: string) => (way: Way) => {
    started.push(call);
    ways.set(call, way);
  };
  return {
    table,
    started,
    ask(call: string, owner: string, asked: readonly Way[]) {
      const requested = table.request(asked, { owner, onTaken: start(call) });
      if (requested.kind === 'taken') start(call)(requested.way);
      return requested;
    },
    wayOf: (call: string) => ways.get(call),
    end: (call: string) => table.release(ways.get(call) ?? [], 1000),
  };
}

test('owners take turns, and each is first come, first served', () => {
  const { ask, end, started } = rig();
  const way = [limitOf('ollama', 1)];
  ask('first', 'z', [way]);
  const asked = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((call) => ask(call, call.charAt(0), [way]));
  const positions = asked.map((each) => (each.kind === 'waiting' ? each.waiter.position : 0));
  for (let index = 0; index < 6; index += 1) end(started.at(-1) ?? '');
  expect(started).toEqual(['first', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  // Each as things were when it came: those that come later may be served earlier.
  expect(positions).toEqual([1, 2, 3, 2, 4, 3]);
});

test('one that leaves frees its place immediately', () => {
  const { ask, end, started, table } = rig();
  const way = [limitOf('ollama', 1, { queueMax: 2 })];
  ask('first', 'a', [way]);
  const left = ask('left', 'a', [way]);
  ask('next', 'b', [way]);
  expect(ask('refused', 'c', [way]).kind).toBe('full');
  expect(left.kind === 'waiting' && left.waiter.leave()).toBe(true);
  expect(left.kind === 'waiting' && left.waiter.leave()).toBe(false);
  expect(ask('late', 'c', [way]).kind).toBe('waiting');
  end('first');
  expect(started).toEqual(['first', 'next']);
  expect(table.use()).toMatchObject([{ name: 'ollama', running: 1, waiting: 1 }]);
});

test('the first way with free slots is taken, and slots of several limits only together', () => {
  const { ask, end, wayOf, table } = rig();
  const [local, other, model] = [
    limitOf('local', 1),
    limitOf('other', 1),
    limitOf('m', 1, { kind: 'model' }),
  ];
  ask('one', 'a', [[local, model], [other]]);
  ask('two', 'a', [[local, model], [other]]);
  expect([wayOf('one'), wayOf('two')]).toEqual([[local, model], [other]]);
  const third = ask('three', 'a', [[local, model], [other]]);
  expect(third).toMatchObject({ kind: 'waiting', waiter: { position: 1 } });
  end('two');
  expect(wayOf('three')).toEqual([other]);
  end('one');
  end('three');
  expect(table.use()).toEqual([]);
});

test('without a queue, a full limit refuses immediately', () => {
  const { ask } = rig();
  const way = [limitOf('vllm', 2, { queueMs: 0 })];
  ask('one', 'a', [way]);
  ask('two', 'a', [way]);
  expect(ask('three', 'a', [way])).toMatchObject({ kind: 'full', limit: { name: 'vllm' } });
});

test('the time until a slot is free follows from how long calls take', () => {
  const { ask, end, table } = rig();
  const limit = limitOf('ollama', 2, { queueMax: 3 });
  for (const call of ['a', 'b', 'c', 'd', 'e', 'f']) ask(call, 'owner', [[limit]]);
  end('a');
  // Two wait, so the next one is third; one of two slots is free every half second.
  expect(table.waitMs(limit)).toBe(1500);
});

test('a limit that is raised or lowered meanwhile holds for the next ones', () => {
  const { ask, end, started } = rig();
  ask('one', 'a', [[limitOf('ollama', 1)]]);
  ask('two', 'a', [[limitOf('ollama', 1)]]);
  ask('three', 'b', [[limitOf('ollama', 3)]]);
  expect(started).toEqual(['one', 'two', 'three']);
  ask('four', 'b', [[limitOf('ollama', 1)]]);
  end('one');
  end('two');
  expect(started).toHaveLength(3);
  end('three');
  expect(started.at(-1)).toBe('four');
});

test('one that had its turn in vain keeps its place, also where no more may wait', () => {
  const { ask, end, started, table } = rig();
  const limit = limitOf('shared', 1, { queueMax: 1 });
  ask('first', 'a', [[limit]]);
  ask('late', 'b', [[limit]]);
  const again = table.request([[limit]], { owner: 'c', isFirst: true, onTaken: () => started.push('again') });
  expect(again).toMatchObject({ kind: 'waiting' });
  end('first');
  table.release([limit], undefined);
  expect(started).toEqual(['first', 'again', 'late']);
});

test('slots of other daemons are not free', () => {
  const { ask, end, started, table } = rig();
  const limit = limitOf('shared', 2);
  ask('one', 'a', [[limit]]);
  table.setElsewhere(limit, 1);
  ask('two', 'a', [[limit]]);
  expect(started).toEqual(['one']);
  table.setElsewhere(limit, 0);
  expect(started).toEqual(['one', 'two']);
  end('one');
  end('two');
  expect(table.use()).toEqual([]);
});

/** Small, repeatable random numbers. */
function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test.each([1, 2, 3, 4, 5, 6])(
  'whatever comes, leaves and ends, no limit is exceeded and all are served (%i)',
  (seed) => {
    const random = randomFrom(seed);
    const table = new SlotTable();
    const providers = [limitOf('small', 1), limitOf('two', 2), limitOf('seven', 7)];
    const models = providers.map(({ name }) => limitOf(`${name}/m`, 1, { kind: 'model' }));
    const keys = ['a', 'b', 'c', 'd'];
    const running = new Map<number, Way>();
    const waiting = new Map<number, { kind: string; leave: () => boolean; asked: readonly Way[] }>();
    const kindOf = (owner: string, ways: readonly Way[]) =>
      `${owner} ${ways.map((way) => way.map(({ name }) => name)).join('|')}`;
    const count = (limit: SlotLimit) => [...running.values()].filter((way) => way.includes(limit)).length;
    const check = () => {
      for (const limit of [...providers, ...models]) expect(count(limit)).toBeLessThanOrEqual(limit.calls);
      // Nothing is free that someone waits for.
      for (const { asked } of waiting.values())
        for (const way of asked) expect(way.some((limit) => count(limit) === limit.calls)).toBe(true);
    };
    let served = 0;
    let left = 0;
    for (let call = 0; call < 400; call += 1) {
      // One owner asks for more than the others.
      const owner = keys[random(2) === 0 ? 0 : random(keys.length)] as string;
      const index = random(providers.length);
      const provider = providers[index] as SlotLimit;
      const ways: Way[] = [random(2) === 0 ? [provider] : [provider, models[index] as SlotLimit]];
      if (random(4) === 0) ways.push([providers[random(providers.length)] as SlotLimit]);
      const onTaken = (way: Way) => {
        // Of the same owner and the same ways, none that came later is served earlier.
        const before = [...waiting].filter(
          ([other, { kind }]) => other < call && kind === kindOf(owner, ways),
        );
        expect(before).toEqual([]);
        waiting.delete(call);
        running.set(call, way);
        served += 1;
      };
      const requested = table.request(ways, { owner, onTaken });
      if (requested.kind === 'taken') {
        running.set(call, requested.way);
        served += 1;
      } else if (requested.kind === 'waiting') {
        waiting.set(call, { kind: kindOf(owner, ways), leave: requested.waiter.leave, asked: ways });
      }
      check();
      for (let ends = random(3); ends > 0; ends -= 1) {
        const ending = [...running][random(running.size)];
        if (ending) {
          running.delete(ending[0]);
          table.release(ending[1], 10);
        }
        check();
      }
      const leaving = random(8) === 0 ? [...waiting][random(waiting.size)] : undefined;
      if (leaving) {
        waiting.delete(leaving[0]);
        expect(leaving[1].leave()).toBe(true);
        left += 1;
        check();
      }
    }
    while (running.size > 0) {
      const [ending] = running;
      if (!ending) break;
      running.delete(ending[0]);
      table.release(ending[1], 10);
      check();
    }
    expect(waiting.size).toBe(0);
    expect(served + left).toBe(400);
    expect(table.use()).toEqual([]);
  },
);
