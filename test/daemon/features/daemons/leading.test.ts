import { beforeEach, describe, expect, test } from 'vitest';
import { whileLeading } from '../../../../src/daemon/features/daemons/leading.ts';
import { keepTakingOver } from '../../../../src/daemon/features/daemons/take-over.ts';

/** What a daemon knows of the others, changed by hand. */
class FakeMembers {
  leads = false;
  left: number[] = [];
  readonly #listeners = new Set<() => void>();

  isLeader = () => this.leads;
  hasLeft = () => this.left.length > 0;
  onChange = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get watchers(): number {
    return this.#listeners.size;
  }

  /** Applies a change, and lets those that wait for one go on. */
  async change(changes: Partial<Pick<FakeMembers, 'leads' | 'left'>>): Promise<void> {
    Object.assign(this, changes);
    for (const listener of [...this.#listeners]) listener();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let members: FakeMembers;
let stop: AbortController;

beforeEach(() => {
  members = new FakeMembers();
  stop = new AbortController();
});

describe('shared work', () => {
  let states: string[];

  const work = async (signal: AbortSignal) => {
    states.push('started');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    states.push('ended');
  };

  beforeEach(() => {
    states = [];
  });

  test('runs while the daemon is the leader, and again when it is once more', async () => {
    const ended = whileLeading(members, stop.signal, work);
    await members.change({});
    expect(states).toEqual([]);
    await members.change({ leads: true });
    await members.change({});
    expect(states).toEqual(['started']);
    await members.change({ leads: false });
    expect(states).toEqual(['started', 'ended']);
    await members.change({ leads: true });
    expect(states).toEqual(['started', 'ended', 'started']);
    stop.abort();
    await ended;
    expect(states).toEqual(['started', 'ended', 'started', 'ended']);
    expect(members.watchers).toBe(0);
  });

  test('does not start after a stop', async () => {
    members.leads = true;
    stop.abort();
    await whileLeading(members, stop.signal, work);
    expect(states).toEqual([]);
  });
});

test('the work of daemons that end is finished, and tried again with the next change if that fails', async () => {
  const finished: number[] = [];
  const failures: unknown[] = [];
  const removed: number[] = [];
  let isBroken = true;
  const store = {
    left: async () => members.left,
    remove: async (daemon: number) => void removed.push(daemon),
  };
  const finish = async (daemon: number) => {
    if (isBroken) throw new Error('the database is gone');
    finished.push(daemon);
  };
  const onFailure = (error: unknown) => void failures.push(error);
  const options = { store, members, log: { warn: () => {} } };
  const ended = keepTakingOver(options, finish, { signal: stop.signal, onFailure });
  await members.change({ left: [3, 5] });
  expect([failures.length, finished, removed]).toEqual([1, [], []]);
  isBroken = false;
  await members.change({});
  expect([failures.length, finished, removed]).toEqual([1, [3, 5], [3, 5]]);
  stop.abort();
  await ended;
});
