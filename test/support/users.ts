import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { solvedChallenge } from './agents.ts';
import type { SignUpProof, SiteIds, ThreadIds, UserIds } from './example-calls.ts';
import { httpCall } from './http-call.ts';
import { createSiteExamples } from './site.ts';
import type { RunningDaemon } from './start-daemon.ts';
import { createThreadExample } from './threads.ts';

/** The status and parsed body of an answer. */
export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
  body: any;
}

export interface AskOptions {
  /** A credential; without one the call is anonymous. */
  as?: string | undefined;
  json?: unknown;
  headers?: Record<string, string>;
}

/** One call to a daemon with the given credential. */
export async function askDaemon(
  { url }: Pick<RunningDaemon, 'url'>,
  method: string,
  path: string,
  { as, json, headers }: AskOptions = {},
): Promise<Answer> {
  const answer = await httpCall(url + path, {
    method,
    headers: {
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: json === undefined ? undefined : JSON.stringify(json),
  });
  return { status: answer.status, body: JSON.parse(answer.text) };
}

/** A user with a login. */
export interface Person {
  id: string;
  handle: string;
  login: string;
  /** The id of their first workspace. */
  workspace: string;
}

/** Adds a user and logs them in. */
export async function addPerson(
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  handle: string,
): Promise<Person> {
  const added = await askDaemon(daemon, 'POST', '/v1/admin/users', { as: daemon.login, json: { handle } });
  if (added.status !== 200) throw new Error(`no user ${handle}: ${JSON.stringify(added.body)}`);
  const session = await askDaemon(daemon, 'POST', '/v1/sessions', { json: { code: added.body.code } });
  if (session.status !== 200) throw new Error(`no login for ${handle}: ${JSON.stringify(session.body)}`);
  const { user, workspace, secret } = session.body;
  return { id: user.id, handle, login: secret, workspace: workspace.id };
}

/** Adds a member to a workspace of the daemon's owner. */
export async function addMember(
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  workspace: string,
  { login }: Person,
  role: 'owner' | 'admin' | 'member',
): Promise<void> {
  const invitations = `/v1/workspaces/${workspace}/invitations`;
  const { body } = await askDaemon(daemon, 'POST', invitations, { as: daemon.login, json: { role } });
  const json = { code: body.code };
  const joined = await askDaemon(daemon, 'POST', '/v1/invitations/accept', { as: login, json });
  if (joined.status !== 200) throw new Error(`not let in: ${JSON.stringify(joined.body)}`);
}

/** Creates another login for the user of this login. */
export async function createLogin(
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  login: string,
): Promise<{ id: string; secret: string }> {
  const { body: current } = await askDaemon(daemon, 'GET', '/v1/sessions/current', { as: login });
  const { body } = await askDaemon(daemon, 'POST', `/v1/admin/users/${current.user.id}/login-codes`, {
    as: daemon.login,
  });
  const session = await askDaemon(daemon, 'POST', '/v1/sessions', { json: { code: body.code } });
  return { id: session.body.session.id, secret: session.body.secret };
}

let added = 0;

/** Users of a daemon that examples share, as logins are rate-limited. */
const shared = new Map<string, Promise<Person>>();

/** The same user each time, for examples that do not change the user. */
export function sharedPerson(daemon: Pick<RunningDaemon, 'url' | 'login'>, handle: string): Promise<Person> {
  const name = `${daemon.url} ${handle}`;
  const person = shared.get(name) ?? addPerson(daemon, handle);
  shared.set(name, person);
  return person;
}

/** A member of the owner's workspace, added again after an example removed them. */
async function guest(daemon: Pick<RunningDaemon, 'url' | 'login'>): Promise<Person> {
  const person = await sharedPerson(daemon, 'guest');
  const { body } = await askDaemon(daemon, 'GET', '/v1/workspaces/me/members', { as: daemon.login });
  const isIn = body.data.some(({ user }: { user: { id: string } }) => user.id === person.id);
  if (!isIn) await addMember(daemon, 'me', person, 'member');
  return person;
}

/** Creates what an example call to an endpoint about users names. Each call may use it up. */
export async function createUserExamples(
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  { id, path }: Pick<Endpoint, 'id' | 'path'>,
  login: string,
): Promise<UserIds & SiteIds & ThreadIds & SignUpProof> {
  const newHandle = () => {
    added += 1;
    return `user-${added}`;
  };
  const asOwner = (where: string) => askDaemon(daemon, 'POST', where, { as: daemon.login });
  if (path.includes('{session}')) return { session: (await createLogin(daemon, login)).id };
  if (path.includes('/members/{user}')) return { user: (await guest(daemon)).id };
  if (path.includes('/users/{user}')) return { user: 'owner' };
  if (path.includes('{invitation}')) {
    return { invitation: (await asOwner('/v1/workspaces/me/invitations')).body.invitation.id };
  }
  if (id === 'deletePeer' || id === 'checkPeer') {
    const json = { url: 'http://127.0.0.1:9' };
    await askDaemon(daemon, 'PUT', '/v1/workspaces/me/peers/attic', { as: daemon.login, json });
    return {};
  }
  if (id === 'getBudget' || id === 'deleteBudget') {
    const json = { usd: '5', period: 'day' };
    await askDaemon(daemon, 'PUT', '/v1/workspaces/me/budgets/team', { as: daemon.login, json });
    return {};
  }
  if (id === 'getAlert' || id === 'deleteAlert' || id === 'testAlert') {
    const json = { kind: 'silence', window_minutes: 60, webhook_url: 'http://127.0.0.1:9' };
    await askDaemon(daemon, 'PUT', '/v1/workspaces/me/alerts/slow', { as: daemon.login, json });
    return {};
  }
  if (id === 'createSession' || id === 'previewSession')
    return { code: (await asOwner('/v1/admin/users/me/login-codes')).body.code };
  if (id === 'acceptInvitation') {
    // To a workspace whose only member is its owner.
    const { login: as } = await sharedPerson(daemon, 'host');
    const json = { name: newHandle() };
    const { body: made } = await askDaemon(daemon, 'POST', '/v1/workspaces', { as, json });
    const invitations = `/v1/workspaces/${made.id}/invitations`;
    return { code: (await askDaemon(daemon, 'POST', invitations, { as })).body.code };
  }
  if (id === 'createAgent') return await solvedChallenge(daemon);
  if (id === 'runChat') return await createSiteExamples(daemon, { id, path }, login);
  const threads = await createThreadExample(daemon, { path });
  if (threads.thread !== undefined) return threads;
  const isAboutPayments = /^\/v1\/(credit|admin\/payments)\//.test(path);
  if (isAboutPayments || path.startsWith('/api/'))
    return await createSiteExamples(daemon, { id, path }, login);
  return id === 'addUser' ? { handle: newHandle() } : {};
}
