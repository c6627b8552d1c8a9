import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import type { SiteThings } from './example-calls.ts';
import { askDaemon } from './people.ts';
import type { RunningDaemon } from './start-daemon.ts';

type Daemon = Pick<RunningDaemon, 'url'>;

/** Makes an access token for whoever this login belongs to. */
export async function newToken(
  daemon: Daemon,
  login: string,
  abilities: readonly string[] = ['*'],
): Promise<{ id: string; secret: string }> {
  const json = { name: 'test', abilities };
  const { status, body } = await askDaemon(daemon, 'POST', '/api/tokens', { as: login, json });
  if (status !== 200) throw new Error(`no token: ${JSON.stringify(body)}`);
  return { id: body.data.id, secret: body.data.token };
}

/** What an example call to an endpoint of the site API names, for whoever calls with this login. */
export async function siteThings(
  daemon: Daemon,
  { path }: Pick<Endpoint, 'path'>,
  login: string,
): Promise<SiteThings> {
  if (path.includes('{tokenId}')) return { token: (await newToken(daemon, login)).id };
  return {};
}
