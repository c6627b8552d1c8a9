import { expect, test } from 'vitest';
import { readProcessStat } from '../../../src/shared/text/process-stat.ts';

/** All fields of Linux's process status up to the start time. */
const line = (name: string, state: string, threads: number) =>
  `4321 (${name}) ${state} 1 4321 4321 0 -1 4194560 900 0 0 0 20 5 0 0 20 0 ${threads} 0 3731953 0 0`;

test.each(['node', 'a) Z 1 (b', '(', ') R 1 2', ''])('a process named %j is parsed correctly', (name) => {
  expect(readProcessStat(line(name, 'S', 11))).toEqual({ hasEnded: false, startTicks: '3731953' });
});

test('a process ends with its last thread', () => {
  expect(readProcessStat(line('node', 'Z', 4)).hasEnded).toBe(false);
  expect(readProcessStat(line('node', 'Z', 1)).hasEnded).toBe(true);
});
