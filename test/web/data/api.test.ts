import { expect, test } from 'vitest';
import { importInPage } from '../../support/page-globals.ts';

const refusal = (status: number, code: string, message = 'No.') =>
  Response.json({ error: { type: 'x', code, message, param: null, request_id: 'req_1' } }, { status });

test('a page whose login has ended signs out, once the daemon says so', async () => {
  const answers = [refusal(403, 'permission'), refusal(401, 'unauthenticated')];
  const fetch = async () => answers.shift() as Response;
  const { call } = await importInPage('data/api.ts', { fetch });
  const { login, loginNotice, signIn } = await importInPage('data/login.ts', { fetch });
  signIn({ secret: 'gwl_1', isKept: false, isOwn: true });
  const ask = () => call({ method: 'GET', path: '/v1/admin/status' }, {});

  await expect(ask()).rejects.toMatchObject({ code: 'permission' });
  expect(login.value).toMatchObject({ secret: 'gwl_1' });

  await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(login.value).toBeUndefined();
  expect(loginNotice.value).toBe('Your login has ended. Sign in again.');
});

test.each([
  ['The queue is full.', 'Try again in a moment.'],
  ['The vault is locked: gateway vault unlock', ''],
])('%s: %j is to be done about it', async (message, remedy) => {
  const fetch = async () => refusal(503, 'unavailable', message);
  const { call, problemOf } = await importInPage('data/api.ts', { fetch });
  const error = await call({ method: 'GET', path: '/v1/admin/status' }, {}).catch(
    (reason: unknown) => reason,
  );
  expect(problemOf(error).remedy).toBe(remedy);
});
