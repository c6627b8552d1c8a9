import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type Answer, askDaemon } from '../support/users.ts';

let daemon: RunningDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(async () => {
  await daemon.stop();
});

const newCode = async (): Promise<string> => {
  const path = '/v1/admin/users/me/login-codes';
  return (await askDaemon(daemon, 'POST', path, { as: daemon.login })).body.code;
};
const tryCode = (code: string): Promise<Answer> =>
  askDaemon(daemon, 'POST', '/v1/sessions', { json: { code } });
const count = (tries: Answer[], status: number) =>
  tries.filter((reported) => reported.status === status).length;

test('one of 200 simultaneous tries with the same code succeeds', async () => {
  const code = await newCode();
  const tries = await Promise.all(Array.from({ length: 200 }, () => tryCode(code)));
  expect(count(tries, 200)).toBe(1);
  expect(count(tries, 401) + count(tries, 429)).toBe(199);
  const [secret] = tries.filter(({ status }) => status === 200).map(({ body }) => body.secret);
  expect((await askDaemon(daemon, 'GET', '/v1/sessions', { as: secret })).body.data).toHaveLength(2);
});

// After the one before: the address has no tries left.
test('after wrong guesses even the right code must wait, and the answer says how long', async () => {
  const last = await eventually(
    'no try was allowed again just then, as every five seconds one is',
    async () => {
      const code = await newCode();
      const guesses = await Promise.all(Array.from({ length: 30 }, (_, at) => tryCode(`GUESS-${at}`)));
      expect(count(guesses, 401)).toBeLessThanOrEqual(10);
      const answer = await tryCode(code);
      return answer.status !== 200 && answer;
    },
  );
  expect([last.status, last.body.error.code]).toEqual([429, 'rate_limited']);
});
