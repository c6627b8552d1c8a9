import { expect, test } from 'vitest';
import { createCallLog } from '../../../src/daemon/process/request-logger.ts';
import type { EventView } from '../../../src/shared/contract/events.ts';

const completed: EventView = {
  type: 'request.completed',
  sequence: null,
  created_at: '2026-11-21T08:54:15.000Z',
  data: { request_id: 'req_1', key: 'key_1', key_name: 'my-app', status: 'completed' },
};
const rejected: EventView = {
  ...completed,
  type: 'request.rejected',
  data: { request_id: 'req_2', key: null, key_name: null, status: 'rejected', error_code: 'unauthenticated' },
};

/** What is logged and shown of these calls at a level. */
function written(level: 'info' | 'warn' | 'error', { isShown = false } = {}) {
  const levels = { info: 30, warn: 40, error: 50 };
  const lines: unknown[] = [];
  const shown: string[] = [];
  const write = (name: string) => (members: object, message: string) =>
    lines.push({ level: name, message, ...members });
  const calls = createCallLog({
    log: { isLevelEnabled: (asked: keyof typeof levels) => levels[asked] >= levels[level] } as never,
    target: { info: write('info'), warn: write('warn') } as never,
    show: isShown ? ({ type }) => shown.push(type) : undefined,
  });
  if (calls.wantsFinished()) calls.write(completed);
  calls.write(rejected);
  return { lines, shown };
}

const rejectedLine = { level: 'warn', message: 'call rejected', key_id: null, error_code: 'unauthenticated' };

test('finished calls are logged at level info, rejected ones at warn, with the key by its id and name', () => {
  expect(written('info').lines).toMatchObject([
    { level: 'info', message: 'call finished', key_id: 'key_1', key_name: 'my-app', status: 'completed' },
    rejectedLine,
  ]);
  expect(written('warn').lines).toMatchObject([rejectedLine]);
  expect(written('error').lines).toEqual([]);
  // The log redacts members of this name.
  for (const line of written('info').lines) expect(line).not.toHaveProperty('key');
});

test('all calls are shown on a terminal, whatever is logged', () => {
  const all = ['request.completed', 'request.rejected'];
  expect(written('error', { isShown: true })).toEqual({ lines: [], shown: all });
  expect(written('warn', { isShown: true }).shown).toEqual(all);
});
