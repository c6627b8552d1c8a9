import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSecret } from '../../src/shared/secrets.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import {
  type Answer,
  type AskOptions,
  addMember,
  addPerson,
  askDaemon,
  createLogin,
  type Person,
} from '../support/users.ts';

let daemon: RunningDaemon;
/** In the owner's workspace: an admin, a plain member, and nothing. */
let ann: Person;
let max: Person;
let otto: Person;
/** Somebody who goes, and a workspace that they were in. */
let eve: Person;
let team: string;

const ask = (method: string, path: string, options: AskOptions = {}) =>
  askDaemon(daemon, method, path, options);
const codeOf = ({ status, body }: Answer) => `${status} ${body.error?.code ?? 'ok'}`;

beforeAll(async () => {
  daemon = await startDaemon();
  ann = await addPerson(daemon, 'ann');
  max = await addPerson(daemon, 'max');
  otto = await addPerson(daemon, 'otto');
  await addMember(daemon, 'personal', ann, 'admin');
  await addMember(daemon, 'personal', max, 'member');
});

afterAll(async () => {
  await daemon.stop();
});

let made = 0;

/** A workspace of the owner's with these members. */
async function aWorkspace(...members: [Person, 'owner' | 'admin' | 'member'][]): Promise<string> {
  made += 1;
  const json = { name: `Team ${made}` };
  const { body } = await ask('POST', '/v1/workspaces', { as: daemon.login, json });
  for (const [person, role] of members) await addMember(daemon, body.slug, person, role);
  return body.slug as string;
}

describe('a user', () => {
  test('is added with a workspace and a one-time login code', async () => {
    const json = { handle: 'Zoe_B', name: 'Zoë' };
    const added = await ask('POST', '/v1/admin/users', { as: daemon.login, json });
    expect(added).toMatchObject({
      status: 200,
      body: { user: { handle: 'zoe_b', name: 'Zoë' }, workspace: { slug: 'zoe-b', role: 'owner' } },
    });
    expect(added.body.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
    const typed = added.body.code.toLowerCase().replace('-', ' ');
    const session = await ask('POST', '/v1/sessions', { json: { code: typed, name: 'zoes-laptop' } });
    expect(session).toMatchObject({
      status: 200,
      body: { session: { name: 'zoes-laptop', is_current: true }, workspace: { slug: 'zoe-b' } },
    });
    expect(parseSecret(session.body.secret)).toBe('login');
    expect(codeOf(await ask('POST', '/v1/sessions', { json: { code: typed } }))).toBe('401 unauthenticated');
    const whoami = await ask('GET', '/v1/sessions/current', { as: session.body.secret });
    const { last_used_at, ...login } = session.body.session;
    expect(last_used_at).toBeNull();
    expect(whoami.body).toMatchObject({ user: added.body.user, session: login });
  });

  test('has a unique handle, whatever its case', async () => {
    const add = (handle: string) => ask('POST', '/v1/admin/users', { as: daemon.login, json: { handle } });
    expect(codeOf(await add('ANN'))).toBe('409 conflict');
    expect(codeOf(await add('me'))).toBe('400 invalid_request');
    expect(codeOf(await add('usr_ann'))).toBe('400 invalid_request');
    expect(codeOf(await add('2'))).toBe('400 invalid_request');
    expect(codeOf(await add('service:x'))).toBe('400 invalid_request');
  });

  test('is added and listed only by the daemon’s owner', async () => {
    const json = { handle: 'nobody' };
    expect(codeOf(await ask('POST', '/v1/admin/users', { as: ann.login, json }))).toBe('403 permission');
    expect(codeOf(await ask('GET', '/v1/admin/users', { as: max.login }))).toBe('403 permission');
    expect(codeOf(await ask('POST', '/v1/admin/users/ann/login-codes', { as: ann.login }))).toBe(
      '403 permission',
    );
    const users = await ask('GET', '/v1/admin/users?limit=2', { as: daemon.login });
    expect(users.body).toMatchObject({ has_more: true, data: [{ handle: 'owner' }, { handle: 'ann' }] });
    const next = await ask('GET', `/v1/admin/users?limit=2&after=${users.body.next}`, { as: daemon.login });
    expect(next.body.data[0]).toMatchObject({ handle: 'max' });
  });

  test('gets a new code by id, handle or `me`', async () => {
    for (const [reference, handle] of [
      [ann.id, 'ann'],
      ['Ann', 'ann'],
      ['me', 'owner'],
    ] as const) {
      const path = `/v1/admin/users/${reference}/login-codes`;
      const { body } = await ask('POST', path, { as: daemon.login });
      expect(body.user.handle).toBe(handle);
      const session = await ask('POST', '/v1/sessions', { json: { code: body.code } });
      expect(session.body.user.handle).toBe(handle);
    }
    expect(codeOf(await ask('POST', '/v1/admin/users/ghost/login-codes', { as: daemon.login }))).toBe(
      '404 not_found',
    );
  });

  test('gets secrets in answers that are not cached', async () => {
    const answer = await daemon.fetch('/v1/admin/users/ann/login-codes', {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store, no-transform');
  });
});

describe('a login', () => {
  const loginOfAnn = async (name: string): Promise<{ id: string; secret: string }> => {
    const { body } = await ask('POST', '/v1/admin/users/ann/login-codes', { as: daemon.login });
    const session = await ask('POST', '/v1/sessions', { json: { code: body.code, name } });
    return { id: session.body.session.id, secret: session.body.secret };
  };

  test('is listed for its user', async () => {
    const { id, secret } = await loginOfAnn('phone');
    const { body } = await ask('GET', '/v1/sessions?limit=100', { as: secret });
    expect(body.data).toContainEqual(expect.objectContaining({ id, name: 'phone', is_current: true }));
    expect(JSON.stringify(body)).not.toContain('gwl_');
    const others = await ask('GET', '/v1/sessions', { as: max.login });
    expect(others.body.data.map((session: { id: string }) => session.id)).not.toContain(id);
  });

  test('has a time of last use that follows its calls', async () => {
    const person = await addPerson(daemon, 'lea');
    const before = Date.now();
    const { body } = await ask('GET', '/v1/key', { as: person.login });
    expect(Date.parse(body.last_used_at)).toBeGreaterThanOrEqual(before);
    const sessions = await ask('GET', '/v1/sessions', { as: person.login });
    expect(sessions.body.data[0].last_used_at >= body.last_used_at).toBe(true);
  });

  test('can be told from the user’s others in usage, traces and events', async () => {
    const person = await addPerson(daemon, 'tom');
    const phone = await createLogin(daemon, person.login);
    const idOf = async (as: string) => (await ask('GET', '/v1/sessions/current', { as })).body.session.id;
    const ids = [await idOf(person.login), await idOf(phone.secret)];
    expect(ids[0]).not.toBe(ids[1]);
    const json = { model: 'sim/echo', input: 'Hello.', store: false };
    for (const as of [person.login, phone.secret]) await ask('POST', '/v1/responses', { as, json });
    const usage = await ask('GET', '/v1/usage?group_by=key', { as: person.login });
    expect(usage.body.data.map(({ group }: { group: string }) => group).toSorted()).toEqual(ids.toSorted());
    const own = await ask('GET', `/v1/usage?key=${ids[1]}`, { as: person.login });
    expect(own.body.total.requests).toBe(1);
    const traces = await ask('GET', '/v1/traces', { as: person.login });
    expect(traces.body.data.map(({ key }: { key: string }) => key)).toEqual(ids.toReversed());
    const events = await daemon.fetch('/v1/events?after=0', {
      headers: { authorization: `Bearer ${person.login}` },
    });
    let seen = '';
    for await (const chunk of events.body as ReadableStream<Uint8Array>) {
      seen += Buffer.from(chunk).toString();
      if (ids.every((id) => seen.includes(`"key":"${id}"`))) break;
    }
  });

  test('that signs out is rejected from then on, and its running streams end', async () => {
    const { id, secret } = await loginOfAnn('tablet');
    const following = await daemon.fetch('/v1/events', { headers: { authorization: `Bearer ${secret}` } });
    const reader = (following.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    expect(await ask('DELETE', '/v1/sessions/current', { as: secret })).toEqual({
      status: 200,
      body: { id, object: 'session', deleted: true },
    });
    await endOf(reader);
    expect(codeOf(await ask('GET', '/v1/sessions/current', { as: secret }))).toBe('401 unauthenticated');
  });

  test('that signs out ends its model calls, which pay for their text so far', async () => {
    const { secret } = await loginOfAnn('desk');
    const answer = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/slow', input: 'Write 2000 words.', stream: true },
      headers: { authorization: `Bearer ${secret}` },
    });
    const request = answer.headers.get('x-request-id');
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    await ask('DELETE', '/v1/sessions/current', { as: secret });
    await endOf(reader);
    const usage = await ask('GET', `/v1/usage/${request}`, { as: ann.login });
    expect(usage.body).toMatchObject({ request_id: request, status: 'failed' });
  });

  test('may revoke another login of the same user, and no one else’s', async () => {
    const { id, secret } = await loginOfAnn('lost');
    expect(codeOf(await ask('DELETE', `/v1/sessions/${id}`, { as: max.login }))).toBe('404 not_found');
    expect((await ask('DELETE', `/v1/sessions/${id}`, { as: ann.login })).status).toBe(200);
    expect(codeOf(await ask('GET', '/v1/sessions', { as: secret }))).toBe('401 unauthenticated');
    expect(codeOf(await ask('DELETE', `/v1/sessions/${id}`, { as: ann.login }))).toBe('404 not_found');
  });
});

describe('a workspace', () => {
  test('is created, found by id and slug, changed and listed', async () => {
    const json = { name: 'Ärger & Söhne' };
    const { body } = await ask('POST', '/v1/workspaces', { as: otto.login, json });
    expect(body).toMatchObject({ slug: 'arger-sohne', role: 'owner', members_may_issue_keys: false });
    expect((await ask('GET', `/v1/workspaces/${body.id}`, { as: otto.login })).body).toEqual(body);
    const changes = { name: 'Söhne', slug: 'sons', members_may_issue_keys: true };
    const changed = await ask('PATCH', '/v1/workspaces/arger-sohne', { as: otto.login, json: changes });
    expect(changed).toEqual({ status: 200, body: { ...body, ...changes } });
    expect((await ask('GET', '/v1/workspaces/sons', { as: otto.login })).body).toEqual(changed.body);
    expect(codeOf(await ask('GET', '/v1/workspaces/arger-sohne', { as: otto.login }))).toBe('404 not_found');
    const list = await ask('GET', '/v1/workspaces', { as: otto.login });
    expect(list.body.data.map(({ slug }: { slug: string }) => slug)).toEqual(['otto', 'sons']);
  });

  test('has a unique slug', async () => {
    const create = (json: object) => ask('POST', '/v1/workspaces', { as: otto.login, json });
    expect(codeOf(await create({ name: 'x', slug: 'ann' }))).toBe('409 conflict');
    expect(codeOf(await create({ name: 'x', slug: 'me' }))).toBe('400 invalid_request');
    expect((await create({ name: 'Ann' })).body.slug).toMatch(/^ann-\w{4}$/);
    expect((await create({ name: 'me' })).body.slug).toMatch(/^me-\w{4}$/);
    const taken = { as: otto.login, json: { slug: 'max' } };
    expect(codeOf(await ask('PATCH', '/v1/workspaces/me', taken))).toBe('409 conflict');
  });

  test('of other users does not exist', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['GET', '/members'],
      ['PATCH', `/members/${ann.id}`],
      ['DELETE', `/members/${ann.id}`],
      ['GET', '/invitations'],
      ['POST', '/invitations'],
      ['DELETE', '/invitations/invite_1'],
    ] as const) {
      const json = path.startsWith('/members/') ? { role: 'member' } : {};
      const options = { as: otto.login, ...(/P/.test(method) && { json }) };
      for (const workspace of ['personal', 'nowhere']) {
        const reported = await ask(method, `/v1/workspaces/${workspace}${path}`, options);
        expect([method, path, codeOf(reported)]).toEqual([method, path, '404 not_found']);
        expect(reported.body.error.message).toBe(`There is no workspace "${workspace}".`);
      }
    }
  });

  test('lists its members to every member', async () => {
    const { body } = await ask('GET', '/v1/workspaces/personal/members', { as: max.login });
    expect(body.data).toMatchObject([
      { user: { handle: 'owner' }, role: 'owner' },
      { user: { handle: 'ann' }, role: 'admin' },
      { user: { handle: 'max' }, role: 'member' },
    ]);
  });

  test('is managed by admins, its owners only by owners', async () => {
    const team = await aWorkspace([ann, 'admin'], [max, 'member'], [otto, 'admin']);
    const at = `/v1/workspaces/${team}`;
    const set = (as: string, user: string, role: string) =>
      ask('PATCH', `${at}/members/${user}`, { as, json: { role } });
    expect(codeOf(await ask('PATCH', at, { as: max.login, json: { name: 'Mine' } }))).toBe('403 permission');
    expect(codeOf(await ask('POST', `${at}/invitations`, { as: max.login }))).toBe('403 permission');
    expect(codeOf(await ask('GET', `${at}/invitations`, { as: max.login }))).toBe('403 permission');
    expect(codeOf(await set(max.login, 'max', 'admin'))).toBe('403 permission');
    expect(codeOf(await set(ann.login, 'max', 'admin'))).toBe('200 ok');
    expect(codeOf(await set(ann.login, 'max', 'member'))).toBe('200 ok');
    expect(codeOf(await set(ann.login, 'max', 'owner'))).toBe('403 permission');
    expect(codeOf(await set(ann.login, 'me', 'owner'))).toBe('403 permission');
    expect(codeOf(await set(ann.login, 'owner', 'member'))).toBe('403 permission');
    const invite = { as: ann.login, json: { role: 'owner' } };
    expect(codeOf(await ask('POST', `${at}/invitations`, invite))).toBe('403 permission');
    expect(codeOf(await ask('DELETE', `${at}/members/owner`, { as: ann.login }))).toBe('403 permission');
    expect(codeOf(await ask('DELETE', `${at}/members/ann`, { as: max.login }))).toBe('403 permission');
    expect(codeOf(await ask('DELETE', `${at}/members/ghost`, { as: ann.login }))).toBe('404 not_found');
    expect(codeOf(await ask('DELETE', `${at}/members/otto`, { as: ann.login }))).toBe('200 ok');
    expect(codeOf(await ask('GET', at, { as: otto.login }))).toBe('404 not_found');
    expect(codeOf(await set(daemon.login, 'ann', 'owner'))).toBe('200 ok');
    expect(codeOf(await set(ann.login, 'owner', 'member'))).toBe('200 ok');
    expect(codeOf(await set(daemon.login, 'ann', 'member'))).toBe('403 permission');
  });

  test('keeps at least one owner', async () => {
    const team = await aWorkspace([ann, 'admin']);
    const at = `/v1/workspaces/${team}/members`;
    expect(codeOf(await ask('DELETE', `${at}/me`, { as: daemon.login }))).toBe('409 conflict');
    const json = { role: 'admin' };
    expect(codeOf(await ask('PATCH', `${at}/me`, { as: daemon.login, json }))).toBe('409 conflict');
    await ask('PATCH', `${at}/ann`, { as: daemon.login, json: { role: 'owner' } });
    expect(codeOf(await ask('DELETE', `${at}/me`, { as: daemon.login }))).toBe('200 ok');
    expect(codeOf(await ask('DELETE', `${at}/me`, { as: ann.login }))).toBe('409 conflict');
  });
});

describe('an invitation', () => {
  test('admits one user, once', async () => {
    const team = await aWorkspace();
    const json = { role: 'admin', note: 'for Ann' };
    const invited = await ask('POST', `/v1/workspaces/${team}/invitations`, { as: daemon.login, json });
    expect(invited.body.invitation).toMatchObject({ role: 'admin', note: 'for Ann', status: 'open' });
    const accept = (as: string) =>
      ask('POST', '/v1/invitations/accept', { as, json: { code: invited.body.code } });
    expect(codeOf(await accept(daemon.login))).toBe('409 conflict');
    const tries = await Promise.all([ann, max, otto].map(({ login }) => accept(login)));
    expect(tries.map(codeOf).toSorted()).toEqual(['200 ok', '404 not_found', '404 not_found']);
    expect(tries.find(({ status }) => status === 200)?.body).toMatchObject({ slug: team, role: 'admin' });
    const list = await ask('GET', `/v1/workspaces/${team}/invitations`, { as: daemon.login });
    expect(list.body.data).toMatchObject([{ id: invited.body.invitation.id, status: 'accepted' }]);
    expect(JSON.stringify(list.body)).not.toContain(invited.body.code);
  });

  test('ends when it is revoked, and when its author leaves', async () => {
    const team = await aWorkspace([ann, 'admin']);
    const at = `/v1/workspaces/${team}/invitations`;
    const [one, other] = [
      await ask('POST', at, { as: daemon.login }),
      await ask('POST', at, { as: ann.login }),
    ];
    const { id } = one.body.invitation;
    expect(codeOf(await ask('DELETE', `${at}/${id}`, { as: ann.login }))).toBe('200 ok');
    expect(codeOf(await ask('DELETE', `${at}/${id}`, { as: ann.login }))).toBe('404 not_found');
    await ask('DELETE', `/v1/workspaces/${team}/members/me`, { as: ann.login });
    for (const { body } of [one, other]) {
      const accepted = await ask('POST', '/v1/invitations/accept', {
        as: max.login,
        json: { code: body.code },
      });
      expect(codeOf(accepted)).toBe('404 not_found');
    }
  });
});

test('an invitation ends when its author may no longer grant the role', async () => {
  const rita = await addPerson(daemon, 'rita');
  const of = await aWorkspace([rita, 'owner']);
  const invite = async (role: string) => {
    const json = { role };
    return (await ask('POST', `/v1/workspaces/${of}/invitations`, { as: rita.login, json })).body.code;
  };
  const [asOwner, asAdmin] = [await invite('owner'), await invite('admin')];
  await ask('PATCH', `/v1/workspaces/${of}/members/rita`, { as: daemon.login, json: { role: 'admin' } });
  const accept = (code: string) => ask('POST', '/v1/invitations/accept', { as: otto.login, json: { code } });
  expect(codeOf(await accept(asOwner))).toBe('404 not_found');
  expect((await accept(asAdmin)).body).toMatchObject({ role: 'admin' });
});

describe('keys of members', () => {
  test('are issued if the workspace allows it', async () => {
    const team = await aWorkspace([max, 'member']);
    const issue = () => ask('POST', `/v1/workspaces/${team}/keys`, { as: max.login });
    expect(codeOf(await issue())).toBe('403 permission');
    const json = { members_may_issue_keys: true };
    await ask('PATCH', `/v1/workspaces/${team}`, { as: daemon.login, json });
    expect(codeOf(await issue())).toBe('200 ok');
    await ask('PATCH', `/v1/workspaces/${team}`, {
      as: daemon.login,
      json: { members_may_issue_keys: false },
    });
    expect(codeOf(await issue())).toBe('403 permission');
  });

  test('pass to the owner when the member leaves, and keep working', async () => {
    const team = await aWorkspace([ann, 'admin']);
    const { body } = await ask('POST', `/v1/workspaces/${team}/keys`, { as: ann.login, json: {} });
    const keys = async () =>
      (await ask('GET', `/v1/workspaces/${team}/keys`, { as: daemon.login })).body.data;
    expect((await keys())[0].owner).toBe(ann.id);
    await ask('DELETE', `/v1/workspaces/${team}/members/me`, { as: ann.login });
    const owner = (await ask('GET', '/v1/sessions/current', { as: daemon.login })).body.user.id;
    expect((await keys())[0]).toMatchObject({ owner, scopes: body.key.scopes });
    const json = { model: 'sim/echo', input: 'Still here.' };
    expect(codeOf(await ask('POST', '/v1/responses', { as: body.secret, json }))).toBe('200 ok');
    expect(codeOf(await ask('GET', `/v1/workspaces/${team}/keys`, { as: ann.login }))).toBe('403 permission');
  });

  test.each([
    ['leaves', () => ask('DELETE', `/v1/workspaces/${team}/members/me`, { as: eve.login })],
    ['is taken out', () => ask('DELETE', `/v1/workspaces/${team}/members/${eve.id}`, { as: daemon.login })],
    [
      'is deleted',
      async () => {
        const json = { email: 'eve@example.com' };
        await ask('PATCH', '/api/settings/profile', { as: eve.login, json });
        return ask('DELETE', '/api/settings/profile', { as: eve.login, json });
      },
    ],
  ])('never act for the new owner when the member %s', async (_what, go) => {
    eve = await addPerson(daemon, `eve-${made}`);
    team = await aWorkspace([eve, 'member']);
    const allowed = { as: daemon.login, json: { members_may_issue_keys: true } };
    await ask('PATCH', `/v1/workspaces/${team}`, allowed);
    const json = { scopes: ['responses', 'keys', 'billing', 'workspace'] };
    const { body } = await ask('POST', `/v1/workspaces/${team}/keys`, { as: eve.login, json });
    const tries: [string, string, object?][] = [
      ['GET', '/api/me'],
      ['GET', '/api/whispers'],
      ['POST', '/api/shouts', { body: 'I am the owner.' }],
      ['GET', `/v1/workspaces/${team}/provider-keys`],
      ['POST', `/v1/workspaces/${team}/keys`, {}],
      ['DELETE', `/v1/workspaces/${team}/keys/${body.key.id}`],
    ];
    expect((await ask('GET', '/api/me', { as: body.secret })).body.data.user.handle).toBe(eve.handle);
    expect((await go()).status).toBe(200);
    for (const [method, path, sent] of tries) {
      const reported = await ask(method, path, { as: body.secret, ...(sent && { json: sent }) });
      expect([method, path, reported.status]).toEqual([method, path, 403]);
    }
    const json2 = { model: 'sim/echo', input: 'Still here.' };
    expect(codeOf(await ask('POST', '/v1/responses', { as: body.secret, json: json2 }))).toBe('200 ok');
  });
});

describe('a login of several workspaces', () => {
  const acting = (as: string, workspace: string) => ({ as, headers: { 'x-workspace-id': workspace } });

  test('acts in its default workspace unless it names another: calls, usage, keys and events follow', async () => {
    const team = await aWorkspace([max, 'admin']);
    const at = acting(max.login, team);
    const { id } = (await ask('GET', '/v1/workspaces/me', at)).body;
    expect((await ask('GET', '/v1/sessions/current', at)).body.workspace).toMatchObject({
      id,
      role: 'admin',
    });
    const json = { model: 'sim/echo', input: 'Hello.' };
    const answer = await daemon.fetch('/v1/responses', {
      json,
      headers: { authorization: `Bearer ${max.login}`, 'x-workspace-id': team },
    });
    const request = answer.headers.get('x-request-id');
    const { id: response } = (await answer.json()) as { id: string };
    expect((await ask('GET', `/v1/usage/${request}`, at)).status).toBe(200);
    expect((await ask('GET', `/v1/responses/${response}`, at)).status).toBe(200);
    expect((await ask('GET', `/v1/responses/${response}`, { as: max.login })).status).toBe(404);
    expect((await ask('GET', `/v1/usage/${request}`, { as: max.login })).status).toBe(404);
    expect((await ask('GET', `/v1/usage/${request}`, acting(daemon.login, id))).status).toBe(200);
    expect((await ask('POST', '/v1/workspaces/me/keys', at)).body.key.workspace).toBe(id);
    expect((await ask('GET', '/v1/key', at)).body.workspace).toBe(id);
    expect((await ask('GET', '/v1/key', { as: max.login })).body.workspace).toBe(max.workspace);
  });

  test('sees other workspaces as missing', async () => {
    for (const path of ['/v1/key', '/v1/models', '/v1/usage', '/v1/workspaces']) {
      for (const workspace of ['personal', 'nowhere', '']) {
        const reported = await ask('GET', path, acting(otto.login, workspace));
        expect([path, codeOf(reported)]).toEqual([path, '404 not_found']);
        expect(reported.body.error.param).toBe('x-workspace-id');
      }
    }
    expect(codeOf(await ask('GET', '/v1/key', acting(daemon.key, 'ann')))).toBe('404 not_found');
    expect(codeOf(await ask('GET', '/v1/key', acting(daemon.key, 'personal')))).toBe('200 ok');
    expect(codeOf(await ask('GET', '/v1/models', { headers: { 'x-workspace-id': 'ann' } }))).toBe('200 ok');
  });

  test('loses access to a workspace the moment it is removed', async () => {
    const team = await aWorkspace([ann, 'member']);
    const headers = { authorization: `Bearer ${ann.login}`, 'x-workspace-id': team };
    const following = await daemon.fetch('/v1/events', { headers });
    const reader = (following.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    await ask('DELETE', `/v1/workspaces/${team}/members/ann`, { as: daemon.login });
    await endOf(reader);
    expect(codeOf(await ask('GET', '/v1/key', acting(ann.login, team)))).toBe('404 not_found');
    expect(codeOf(await ask('GET', '/v1/key', { as: ann.login }))).toBe('200 ok');
    await addMember(daemon, team, ann, 'member');
    expect(codeOf(await ask('GET', '/v1/key', acting(ann.login, team)))).toBe('200 ok');
  });

  test('gets a new workspace when its user loses the last one', async () => {
    const uma = await addPerson(daemon, 'uma');
    const json = { role: 'owner' };
    const { body } = await ask('POST', '/v1/workspaces/me/invitations', { as: uma.login, json });
    await ask('POST', '/v1/invitations/accept', { as: ann.login, json: { code: body.code } });
    expect(codeOf(await ask('DELETE', '/v1/workspaces/uma/members/uma', { as: ann.login }))).toBe('200 ok');
    const home = await ask('GET', '/v1/workspaces/me', { as: uma.login });
    expect(home.body).toMatchObject({ role: 'owner', slug: expect.stringMatching(/^uma-/) });
    expect(home.body.id).not.toBe(uma.workspace);
  });
});

/** Reads until the stream ends, or breaks off. */
async function endOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // A stream may also be cut.
  }
}
