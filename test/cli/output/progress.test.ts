import { expect, test } from 'vitest';
import { progressBar } from '../../../src/cli/output/progress.ts';

/** What a person sees last, and all that was written. */
function shownOn({ isTty, columns = 80 }: { isTty: boolean; columns?: number }) {
  const written: string[] = [];
  const stderr = { isTty, write: (text: string) => written.push(text) > 0 };
  const bar = progressBar({ stderr, columns: () => columns });
  return { bar, written, last: () => written.at(-1)?.split('\u001b[2K').at(-1) };
}

test('a bar shows the share of bytes done', () => {
  const { bar, last } = shownOn({ isTty: true });
  bar.show('Copying', 50e6, 203e6);
  expect(last()).toBe('Copying ██████░░░░░░░░░░░░░░░░░░ 25 % of 194 MiB');
  bar.show('Copying', 400e6, 203e6);
  expect(last()).toBe('Copying ████████████████████████ 100 % of 194 MiB');
});

test('work without known progress shows no share', () => {
  const { bar, last } = shownOn({ isTty: true });
  bar.wait('Checking', 203e6);
  expect(last()).toBe('Checking 194 MiB …');
  bar.stop();
  expect(last()).toBe('');
});

test('lines are not repeated and never wider than the terminal', () => {
  const { bar, written, last } = shownOn({ isTty: true, columns: 20 });
  bar.show('Copying', 1, 203e6);
  bar.show('Copying', 2, 203e6);
  expect(written).toHaveLength(1);
  expect(last()?.length).toBeLessThan(20);
});

test('nothing is written without a terminal', () => {
  const { bar, written } = shownOn({ isTty: false });
  bar.show('Copying', 1, 2);
  bar.wait('Checking', 2);
  bar.stop();
  expect(written).toEqual([]);
});
