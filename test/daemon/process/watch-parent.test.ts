import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchParent } from '../../../src/daemon/process/watch-parent.ts';

const npm = { npm_config_user_agent: 'npm/11.0.0' };

/** A program that started this one, and the number of times at which its end was noticed. */
function start({ env = {}, hasStdin = false }: { env?: Record<string, string>; hasStdin?: boolean }) {
  const parent = { pid: 10, onStdinEnd: () => {}, gone: 0 };
  const leave = watchParent(env, () => (parent.gone += 1), {
    pid: () => parent.pid,
    stdinEnd: hasStdin ? (onEnd) => (parent.onStdinEnd = onEnd) : undefined,
  });
  return { parent, leave };
}

describe('the program that started the daemon', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('ends it when it is npm, which passes on no signal (npm/cli#6684, anomalyco/opencode#20899)', () => {
    const { parent } = start({ env: npm });
    vi.advanceTimersByTime(60_000);
    expect(parent.gone).toBe(0);
    parent.pid = 1;
    vi.advanceTimersByTime(5_000);
    expect(parent.gone).toBe(1);
  });

  test('ends it when it is gone and standard input is closed', () => {
    const { parent } = start({ hasStdin: true });
    parent.pid = 1;
    vi.advanceTimersByTime(5_000);
    expect(parent.gone).toBe(0);
    parent.onStdinEnd();
    expect(parent.gone).toBe(1);
  });

  test('does not end it otherwise: it may be meant to stay', () => {
    const { parent } = start({});
    parent.pid = 1;
    vi.advanceTimersByTime(60_000);
    expect(parent.gone).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is no longer watched once the daemon stops', () => {
    const { parent, leave } = start({ env: npm });
    leave();
    parent.pid = 1;
    vi.advanceTimersByTime(60_000);
    expect(parent.gone).toBe(0);
  });
});
