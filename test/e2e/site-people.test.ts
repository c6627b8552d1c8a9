import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type AskOptions, addMember, addPerson, askDaemon, type Person } from '../support/users.ts';

let daemon: RunningDaemon;
let ann: Person;
let max: Person;
let added = 0;

beforeAll(async () => {
  daemon = await startDaemon();
  ann = await addPerson(daemon, 'ann');
  max = await addPerson(daemon, 'max');
});

afterAll(async () => {
  await daemon.stop();
});

const ask = (method: string, path: string, options: AskOptions = {}) =>
  askDaemon(daemon, method, path, options);
const somebody = () => {
  added += 1;
  return addPerson(daemon, `person-${added}`);
};
const newToken = async (as: string, json: object = {}) => {
  const { status, body } = await ask('POST', '/api/tokens', { as, json: { name: 'test', ...json } });
  expect([status, body.message]).toEqual([200, undefined]);
  return body.data as { token: string; id: string; tokenableId: number; expiresAt: string | null };
};
const unauthenticated = { status: 401, body: { message: 'Unauthenticated.' } };
const unauthorized = { status: 403, body: { message: 'This action is unauthorized.' } };
const notFound = { status: 404, body: { message: 'Not found.' } };
const invalid = (field: string) => ({
  status: 422,
  body: {
    message: 'The given data was invalid.',
    errors: { [field]: expect.arrayContaining([expect.stringMatching(/^`?\w.*\.$/)]) },
  },
});

describe('access tokens', () => {
  test('are shown once, have all abilities by default, and call the site API for their user', async () => {
    const made = await newToken(ann.login, { name: 'laptop' });
    expect(Object.keys(made)).toEqual(['token', 'id', 'tokenableId', 'name', 'abilities', 'expiresAt']);
    expect(made).toMatchObject({ name: 'laptop', abilities: ['*'], expiresAt: null });
    expect(made.token).toMatch(/^gwt_[0-9A-Za-z]{38}$/);
    const { body } = await ask('GET', '/api/settings/profile', { as: made.token });
    expect(body.data).toMatchObject({ id: made.tokenableId, name: 'ann' });
  });

  test('are listed newest first without secrets, marking the one in use', async () => {
    const { login } = await somebody();
    const [first, second] = [await newToken(login), await newToken(login, { abilities: ['profile'] })];
    const { body } = await ask('GET', '/api/tokens', { as: first.token });
    expect(body.data.map(({ id, isCurrent }: { id: string; isCurrent: boolean }) => [id, isCurrent])).toEqual(
      [
        [second.id, false],
        [first.id, true],
      ],
    );
    expect(Object.keys(body.data[0]).toSorted()).toEqual(
      ['abilities', 'createdAt', 'expiresAt', 'id', 'isCurrent', 'lastUsedAt', 'name'].toSorted(),
    );
    expect(body.data[1].lastUsedAt).toMatch(/^\d{4}-.*Z$/);
    expect(body.data[0].lastUsedAt).toBeNull();
    expect(JSON.stringify(body)).not.toContain('gwt_');
  });

  test('allow only their abilities', async () => {
    const narrow = await newToken(ann.login, { abilities: ['whispers:read'] });
    expect(await ask('GET', '/api/settings/profile', { as: narrow.token })).toEqual(unauthorized);
    expect(await ask('POST', '/api/tokens', { as: narrow.token, json: { name: 'more' } })).toEqual(
      unauthorized,
    );
    const fitting = await newToken(ann.login, { abilities: ['profile'] });
    expect((await ask('GET', '/api/me', { as: fitting.token })).status).toBe(200);
  });

  test('are not accepted by the versioned API', async () => {
    const { token } = await newToken(ann.login);
    for (const path of ['/v1/key', '/v1/responses', '/v1/usage', '/v1/workspaces/me/keys']) {
      const { status, body } = await ask('GET', path, { as: token });
      expect([path, status]).toEqual([path, 401]);
      expect(body.error.code).toBe('unauthenticated');
    }
    const { status, body } = await ask('GET', '/v1/sessions', { as: token });
    expect([status, body.error.code]).toEqual([401, 'signed_out']);
    expect((await ask('GET', '/v1/models', { as: token })).status).toBe(200);
  });

  test('cannot be created with a key', async () => {
    const { body } = await ask('POST', '/v1/workspaces/me/keys', {
      as: ann.login,
      json: { scopes: ['workspace'] },
    });
    expect(await ask('GET', '/api/tokens', { as: body.secret })).toEqual(unauthorized);
    expect((await ask('GET', '/api/settings/profile', { as: body.secret })).body.data.name).toBe('ann');
    expect(await ask('GET', '/api/settings/profile', { as: daemon.key })).toEqual(unauthorized);
  });

  test('are rejected once revoked, and cannot be revoked twice', async () => {
    const { token, id } = await newToken(ann.login);
    expect((await ask('GET', '/api/me', { as: token })).status).toBe(200);
    expect(await ask('DELETE', `/api/tokens/${id}`, { as: max.login })).toEqual(notFound);
    expect(await ask('DELETE', `/api/tokens/${id}`, { as: ann.login })).toEqual({
      status: 200,
      body: { data: { deleted: true } },
    });
    expect(await ask('GET', '/api/me', { as: token })).toEqual(unauthenticated);
    expect(await ask('DELETE', `/api/tokens/${id}`, { as: ann.login })).toEqual(notFound);
  });

  test('can always revoke themselves', async () => {
    const { token } = await newToken(ann.login, { abilities: ['whispers:read'] });
    expect((await ask('DELETE', '/api/tokens/current', { as: token })).body).toEqual({
      data: { deleted: true },
    });
    expect(await ask('GET', '/api/me', { as: token })).toEqual(unauthenticated);
    expect(await ask('DELETE', '/api/tokens/current', { as: ann.login })).toEqual(notFound);
  });

  test('are revoked all together, except those of other users', async () => {
    const { login } = await somebody();
    const own = [await newToken(login), await newToken(login)];
    const other = await newToken(max.login);
    expect((await ask('DELETE', '/api/tokens', { as: login })).body).toEqual({ data: { deletedCount: 2 } });
    for (const { token } of own) expect(await ask('GET', '/api/me', { as: token })).toEqual(unauthenticated);
    expect((await ask('GET', '/api/me', { as: other.token })).status).toBe(200);
    expect((await ask('GET', '/api/tokens', { as: login })).body).toEqual({ data: [] });
  });

  test.each<[object, string]>([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'a\u0007b' }, 'name'],
    [{ name: 'half \ud800' }, 'name'],
    [{ name: 'a', abilities: [] }, 'abilities'],
    [{ name: 'a', abilities: ['everything'] }, 'abilities[0]'],
    [{ name: 'a', expires_at: 'tomorrow' }, 'expires_at'],
    [{ name: 'a', expires_at: '2020-01-01' }, 'expires_at'],
    [{ name: 'a', role: 'owner' }, 'role'],
  ])('are not created from %j', async (json, field) => {
    expect(await ask('POST', '/api/tokens', { as: ann.login, json })).toEqual(invalid(field));
  });

  test('create others that expire no later than themselves', async () => {
    const parent = await newToken(ann.login, { expires_at: '2099-01-01' });
    expect(parent.expiresAt).toBe('2099-01-01T00:00:00.000Z');
    expect((await newToken(parent.token)).expiresAt).toBe(parent.expiresAt);
    const json = { name: 'longer', expires_at: '2100-01-01' };
    expect(await ask('POST', '/api/tokens', { as: parent.token, json })).toEqual(invalid('expires_at'));
  });
});

describe('the profile', () => {
  const fields = ['avatar', 'createdAt', 'email', 'id', 'name', 'updatedAt'];

  test('has the documented fields, with an integer id', async () => {
    const { body } = await ask('GET', '/api/settings/profile', { as: ann.login });
    expect(Object.keys(body)).toEqual(['data']);
    expect(Object.keys(body.data).toSorted()).toEqual(fields);
    expect(Number.isSafeInteger(body.data.id)).toBe(true);
  });

  test('changes the sent fields and keeps the rest', async () => {
    const { login } = await somebody();
    const { body: before } = await ask('GET', '/api/settings/profile', { as: login });
    const json = { email: 'Some@Example.com', avatar: 'https://example.com/a.png' };
    const { body } = await ask('PATCH', '/api/settings/profile', { as: login, json });
    expect(Object.keys(body.data).toSorted()).toEqual(fields);
    expect(body.data).toMatchObject({ ...json, name: before.data.name, createdAt: before.data.createdAt });
    const name = 'Line\u202e <b>Name</b> 😀';
    await ask('PATCH', '/api/settings/profile', { as: login, json: { name, avatar: '' } });
    const { body: after } = await ask('GET', '/api/settings/profile', { as: login });
    expect(after.data).toMatchObject({ name, avatar: '', email: json.email });
  });

  test.each<[object, string]>([
    [{}, 'body'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'half \udc00' }, 'name'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 'a b@c' }, 'email'],
    [{ avatar: 'javascript:alert(1)' }, 'avatar'],
    [{ handle: 'agent:x' }, 'handle'],
    [{ handle: 'MAX' }, 'handle'],
    // Each could be mistaken for another user: oneself, an id of the other surface, an id of this one.
    [{ handle: 'Me' }, 'handle'],
    [{ handle: 'usr_1' }, 'handle'],
    [{ handle: '2' }, 'handle'],
    [{ id: 5 }, 'id'],
  ])('does not change to %j', async (json, field) => {
    expect(await ask('PATCH', '/api/settings/profile', { as: ann.login, json })).toEqual(invalid(field));
  });

  test('has a unique email address', async () => {
    const [one, two] = [await somebody(), await somebody()];
    const patch = ({ login }: Person, email: string) =>
      ask('PATCH', '/api/settings/profile', { as: login, json: { email } });
    expect((await patch(one, 'same@example.com')).status).toBe(200);
    expect(await patch(two, 'SAME@example.com')).toEqual(invalid('email'));
    expect((await patch(one, 'Same@example.com')).status).toBe(200);
  });

  test('includes the handle in `me`', async () => {
    const { body } = await ask('GET', '/api/me', { as: max.login });
    expect(Object.keys(body.data)).toEqual(['user', 'chatThreads']);
    expect(Object.keys(body.data.user).toSorted()).toEqual([...fields, 'handle'].toSorted());
    expect(body.data.user.handle).toBe('max');
    expect(await ask('GET', '/api/me?chat_limit=0', { as: max.login })).toEqual(invalid('chat_limit'));
    expect((await ask('GET', '/api/me?chat_limit=5000', { as: max.login })).status).toBe(200);
  });

  test('is deleted only with the right address, along with every credential', async () => {
    const { login, handle, workspace } = await somebody();
    const remove = (email: string) => ask('DELETE', '/api/settings/profile', { as: login, json: { email } });
    expect(await remove('')).toEqual(invalid('email'));
    expect(await remove('mine@example.com')).toEqual(invalid('email'));
    await ask('PATCH', '/api/settings/profile', { as: login, json: { email: 'mine@example.com' } });
    const { token } = await newToken(login);
    const key = await ask('POST', `/v1/workspaces/${workspace}/keys`, { as: login, json: {} });
    expect(await remove('other@example.com')).toEqual(invalid('email'));
    expect(await remove('MINE@example.com')).toEqual({ status: 200, body: { data: { deleted: true } } });
    for (const as of [login, token]) expect(await ask('GET', '/api/me', { as })).toEqual(unauthenticated);
    expect((await ask('GET', '/v1/key', { as: key.body.secret })).status).toBe(401);
    const { body } = await ask('GET', '/v1/admin/users?limit=100', { as: daemon.login });
    expect(body.data.map((user: { handle: string }) => user.handle)).not.toContain(handle);
    // The name is free again.
    expect((await addPerson(daemon, handle)).handle).toBe(handle);
  });

  test('of the host’s owner, or of the last owner of a shared workspace, is not deleted', async () => {
    await ask('PATCH', '/api/settings/profile', { as: daemon.login, json: { email: 'host@example.com' } });
    const host = { as: daemon.login, json: { email: 'host@example.com' } };
    expect(await ask('DELETE', '/api/settings/profile', host)).toEqual(invalid('email'));
    const [owner, member] = [await somebody(), await somebody()];
    await addMember({ ...daemon, login: owner.login }, owner.workspace, member, 'member');
    const email = 'shared@example.com';
    await ask('PATCH', '/api/settings/profile', { as: owner.login, json: { email } });
    const { body } = await ask('DELETE', '/api/settings/profile', { as: owner.login, json: { email } });
    expect(body.errors.email[0]).toMatch(/last owner of the workspace person-/);
    expect((await ask('GET', '/api/me', { as: owner.login })).status).toBe(200);
  });
});
