import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newToken } from '../support/site.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type AskOptions, addPerson, askDaemon, type Person } from '../support/users.ts';

let daemon: RunningDaemon;
let ann: Person;
let max: Person;

beforeAll(async () => {
  daemon = await startDaemon();
  ann = await addPerson(daemon, 'ann');
  max = await addPerson(daemon, 'max');
});

afterAll(async () => {
  await daemon.stop();
});

const ask = (method: string, path: string, { as = ann.login, ...options }: AskOptions = {}) =>
  askDaemon(daemon, method, path, { as, ...options });
const create = async (json: object = {}) => {
  const answer = await ask('POST', '/api/autopilots', { json: { displayName: 'Night Watch', ...json } });
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
  return answer.body.data;
};
const patch = (id: string, json: object) => ask('PATCH', `/api/autopilots/${id}`, { json });
const invalid = (field: string) => ({
  status: 422,
  body: {
    message: 'The given data was invalid.',
    errors: { [field]: expect.arrayContaining([expect.stringMatching(/\.$/)]) },
  },
});
const notFound = { status: 404, body: { message: 'Not found.' } };

describe('autopilots', () => {
  const fields = [
    ...['avatar', 'configVersion', 'createdAt', 'displayName', 'handle', 'id', 'ownerUserId'],
    ...['nextRunAt', 'status', 'tagline', 'updatedAt', 'visibility'],
  ].toSorted();

  test('have the documented fields, and their setup when read alone', async () => {
    const made = await create();
    const { body: list } = await ask('GET', '/api/autopilots');
    expect(Object.keys(list)).toEqual(['data']);
    expect(Object.keys(list.data[0]).toSorted()).toEqual(fields);
    const details = ['modelSpend', 'policy', 'profile', 'schedule'];
    expect(Object.keys(made).toSorted()).toEqual([...fields, ...details].toSorted());
    const { body: me } = await ask('GET', '/api/me');
    expect(made).toMatchObject({
      status: 'active',
      visibility: 'private',
      configVersion: 1,
      ownerUserId: me.data.user.id,
      profile: {},
      policy: { l402RequireApproval: true },
    });
    expect(typeof made.id).toBe('string');
  });

  test('are found by id or handle in any case, by their owner only', async () => {
    const { id, handle } = await create({ handle: 'Scout:One' });
    expect(handle).toBe('scout:one');
    for (const name of [id, 'scout:one', 'SCOUT:One']) {
      expect((await ask('GET', `/api/autopilots/${name}`)).body.data.id).toBe(id);
      expect(await ask('GET', `/api/autopilots/${name}`, { as: max.login })).toEqual(notFound);
      const json = { tagline: 'Mine now.' };
      expect(await ask('PATCH', `/api/autopilots/${name}`, { as: max.login, json })).toEqual(notFound);
      expect(await ask('DELETE', `/api/autopilots/${name}`, { as: max.login })).toEqual(notFound);
    }
  });

  test('get a unique handle', async () => {
    expect((await create({ displayName: 'Été à Paris' })).handle).toBe('ete-a-paris');
    expect((await create({ displayName: 'Été à Paris' })).handle).toBe('ete-a-paris-2');
    expect((await create({ handle: 'ete-a-paris' })).handle).toBe('ete-a-paris-3');
    expect((await create({ displayName: '夜警' })).handle).toMatch(/^autopilot/);
    const { id } = await create({ handle: 'mine' });
    expect(await patch(id, { handle: 'ETE-a-paris' })).toEqual(invalid('handle'));
    expect((await patch(id, { handle: 'Mine' })).body.data.handle).toBe('mine');
  });

  test('count changes of profile and policy only', async () => {
    const { id } = await create();
    const version = async (json: object) => (await patch(id, json)).body.data.configVersion;
    expect(await version({ tagline: 'Always awake.' })).toBe(1);
    expect(await version({ profile: { autopilotVoice: 'calm' } })).toBe(2);
    expect(await version({ profile: { autopilotVoice: 'calm' } })).toBe(2);
    expect(await version({ policy: { model: 'sim/echo', toolDenylist: ['http_request'] } })).toBe(3);
    expect(await version({ policy: { model: null } })).toBe(4);
    const { body } = await ask('GET', `/api/autopilots/${id}`);
    expect(body.data).toMatchObject({ tagline: 'Always awake.', profile: { autopilotVoice: 'calm' } });
    expect(body.data.policy).toEqual({ l402RequireApproval: true, toolDenylist: ['http_request'] });
  });

  test('lose none of several simultaneous changes', async () => {
    const { id } = await create();
    const changes = [{ model: 'a' }, { modelProvider: 'b' }, { l402MaxSpendMsatsPerCall: 5 }];
    await Promise.all(changes.map((policy) => patch(id, { policy })));
    const { body } = await ask('GET', `/api/autopilots/${id}`);
    expect(body.data.configVersion).toBe(4);
    expect(body.data.policy).toMatchObject(Object.assign({}, ...changes));
  });

  test('can be disabled, enabled and archived for good', async () => {
    const { id } = await create();
    const become = async (status: string) => (await patch(id, { status })).body.data?.status;
    for (const status of ['disabled', 'active', 'disabled', 'disabled'])
      expect(await become(status)).toBe(status);
    const { body } = await ask('DELETE', `/api/autopilots/${id}`);
    expect(body.data.status).toBe('archived');
    expect((await ask('DELETE', `/api/autopilots/${id}`)).body).toEqual(body);
    for (const json of [{ status: 'active' }, { status: 'archived' }, { tagline: 'Back.' }]) {
      expect(await patch(id, json)).toEqual(invalid('status'));
    }
    const archived = (await ask('GET', '/api/autopilots?status=archived')).body.data;
    expect(archived.map((one: { id: string }) => one.id)).toContain(id);
    const other = await create({ status: 'disabled' });
    expect((await patch(other.id, { status: 'archived' })).body.data.status).toBe('archived');
    expect(await ask('POST', '/api/autopilots', { json: { displayName: 'a', status: 'archived' } })).toEqual(
      invalid('status'),
    );
  });

  test('are found by others as their visibility says, without their setup', async () => {
    const made: Record<string, string> = {};
    const profile = { personaSummary: 'A secret plan.' };
    for (const visibility of ['private', 'discoverable', 'public'])
      made[visibility] = (await create({ displayName: visibility, visibility, profile })).id;
    const found = async (as: string | undefined) => {
      const { status, body } = await ask('GET', '/api/directory/autopilots', { as });
      expect([status, JSON.stringify(body).includes('secret plan')]).toEqual([200, false]);
      const ids = body.data.map(({ id }: { id: string }) => id);
      return Object.keys(made).filter((visibility) => ids.includes(made[visibility]));
    };
    expect(await found(max.login)).toEqual(['discoverable', 'public']);
    const anonymous = await askDaemon(daemon, 'GET', '/api/directory/autopilots');
    expect(anonymous.body.data).toMatchObject([{ id: made.public, owner: { handle: 'ann' } }]);
    expect(await ask('GET', `/api/autopilots/${made.public}`, { as: max.login })).toEqual(notFound);
    const json = { input: 'Go.' };
    expect(await ask('POST', `/api/autopilots/${made.public}/runs`, { as: max.login, json })).toEqual(
      notFound,
    );
    await patch(made.public ?? '', { status: 'disabled' });
    expect(await found(max.login)).toEqual(['discoverable']);
  });

  test('are listed by last change, latest first', async () => {
    const { login: as } = await addPerson(daemon, 'lister');
    const ids: string[] = [];
    for (const displayName of ['one', 'two', 'three']) {
      ids.push((await ask('POST', '/api/autopilots', { as, json: { displayName } })).body.data.id);
    }
    await ask('PATCH', `/api/autopilots/${ids[0]}`, { as, json: { tagline: 'Changed.' } });
    const list = async (query: string) =>
      (await ask('GET', `/api/autopilots${query}`, { as })).body.data.map((one: { id: string }) => one.id);
    expect(await list('')).toEqual([ids[0], ids[2], ids[1]]);
    expect(await list('?limit=1')).toEqual([ids[0]]);
    expect(await list('?limit=9999&status=active')).toHaveLength(3);
  });

  test.each<[object, string]>([
    [{}, 'displayName'],
    [{ displayName: 'x'.repeat(121) }, 'displayName'],
    [{ displayName: 'a', handle: 'a b' }, 'handle'],
    [{ displayName: 'a', handle: 'agent:a' }, 'handle'],
    [{ displayName: 'a', handle: 'SERVICE:a' }, 'handle'],
    [{ displayName: 'a', tagline: 'x'.repeat(256) }, 'tagline'],
    [{ displayName: 'a', tagline: 'half \ud800' }, 'tagline'],
    [{ displayName: 'a', visibility: 'secret' }, 'visibility'],
    [{ displayName: 'a', status: 'asleep' }, 'status'],
    [{ displayName: 'a', policy: { l402MaxSpendMsatsPerCall: -1 } }, 'policy.l402MaxSpendMsatsPerCall'],
    [{ displayName: 'a', policy: { budget: 1 } }, 'policy.budget'],
    [{ displayName: 'a', configVersion: 9 }, 'configVersion'],
  ])('are not created from %j', async (json, field) => {
    expect(await ask('POST', '/api/autopilots', { json })).toEqual(invalid(field));
  });

  test('allow more payments only if the credential may pay, too', async () => {
    const { secret: as } = await newToken(daemon, ann.login, ['autopilots:*']);
    const { secret: payer } = await newToken(daemon, ann.login, ['autopilots:*', 'payments']);
    const limits = {
      l402MaxSpendMsatsPerCall: 1000,
      l402MaxSpendMsatsPerDay: 5000,
      l402AllowedHosts: ['a.example', 'b.example'],
      l402RequireApproval: true,
      toolDenylist: ['paid_http_request'],
    };
    const refused = (member: string) => ({
      status: 403,
      body: {
        message: 'This action is unauthorized.',
        errors: { [`policy.${member}`]: [expect.stringContaining('the ability `payments`')] },
      },
    });
    const created = (policy: object, by = as) =>
      ask('POST', '/api/autopilots', { as: by, json: { displayName: 'Buyer', policy } });
    expect(await created(limits)).toEqual(refused('l402MaxSpendMsatsPerCall'));
    expect(await created({ l402RequireApproval: false })).toEqual(refused('l402RequireApproval'));
    expect(await created({ l402AllowedHosts: ['a.example'] })).toEqual(refused('l402AllowedHosts'));
    expect(await created({ model: 'sim/assistant', l402MaxSpendMsatsPerDay: 0 })).toMatchObject({
      status: 200,
    });
    const { body } = await created(limits, payer);
    const { id } = body.data;
    const change = (policy: object, by = as) =>
      ask('PATCH', `/api/autopilots/${id}`, { as: by, json: { policy } });
    const raises: Record<string, unknown> = {
      l402MaxSpendMsatsPerCall: 1001,
      l402MaxSpendMsatsPerDay: 5001,
      l402AllowedHosts: ['a.example', 'c.example'],
      l402RequireApproval: false,
      toolDenylist: [],
    };
    for (const [member, value] of Object.entries(raises))
      expect(await change({ [member]: value })).toEqual(refused(member));
    const { secret: key } = (
      await ask('POST', '/v1/workspaces/me/keys', { json: { scopes: ['workspace', 'responses', 'threads'] } })
    ).body;
    expect(await change({ l402MaxSpendMsatsPerDay: 5001 }, key)).toEqual(refused('l402MaxSpendMsatsPerDay'));
    const lower = {
      l402MaxSpendMsatsPerCall: 999,
      l402MaxSpendMsatsPerDay: null,
      l402AllowedHosts: ['b.example'],
    };
    expect(await change({ ...lower, model: 'sim/assistant' })).toMatchObject({ status: 200 });
    expect(await change(raises, payer)).toMatchObject({ status: 200 });
    // A host below one that was allowed is no more than before, on the same port.
    const hostsAre = (l402AllowedHosts: string[], by = as) => change({ l402AllowedHosts }, by);
    expect((await hostsAre(['*.c.example', 'd.example:*'], payer)).status).toBe(200);
    for (const wider of ['c.example', '*.example', 'a.c.example:8443', 'd.example.net'])
      expect(await hostsAre([wider])).toEqual(refused('l402AllowedHosts'));
    expect((await hostsAre(['*.b.c.example', 'A.C.example', 'd.example:8080', 'd.example'])).status).toBe(
      200,
    );
    expect((await hostsAre(['x.b.c.example'])).status).toBe(200);
    expect(await hostsAre(['*.c.example'])).toEqual(refused('l402AllowedHosts'));
  });

  test('require the ability', async () => {
    const { secret } = await newToken(daemon, ann.login, ['autopilots:*']);
    expect((await ask('GET', '/api/autopilots', { as: secret })).status).toBe(200);
    const { secret: other } = await newToken(daemon, ann.login, ['profile']);
    expect((await ask('GET', '/api/autopilots', { as: other })).status).toBe(403);
  });
});
