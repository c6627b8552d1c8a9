import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchTerminal } from '../../../src/cli/terminal/watch-terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('notices once that the terminal is gone (vfarcic/dot-agent-deck#1138, anthropics/claude-code#20596)', () => {
  let isThere = true;
  const gone = vi.fn();
  watchTerminal(gone, () => isThere);
  vi.advanceTimersByTime(60_000);
  expect(gone).not.toHaveBeenCalled();
  isThere = false;
  vi.advanceTimersByTime(60_000);
  expect(gone).toHaveBeenCalledTimes(1);
});

test('does nothing where the output is no terminal: a command in the background may be meant to stay', () => {
  watchTerminal(
    () => {},
    (fd) => fd !== 1,
  );
  expect(vi.getTimerCount()).toBe(0);
});
