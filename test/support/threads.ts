import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import type { ThreadIds } from './example-calls.ts';
import type { RunningDaemon } from './start-daemon.ts';

/** Creates what an example call to a thread endpoint names: a thread of the owner's workspace with one run. */
export async function createThreadExample(
  { url, login }: Pick<RunningDaemon, 'url' | 'login'>,
  endpoint?: Pick<Endpoint, 'path'>,
): Promise<ThreadIds> {
  if (endpoint && !/\/threads\/\{id\}|\{conversationId\}/.test(endpoint.path)) return {};
  const headers = { authorization: `Bearer ${login}`, 'content-type': 'application/json' };
  const post = async (path: string, json: object) => {
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(json) });
    return (await answer.json()) as Record<string, unknown>;
  };
  const { thread } = (await post('/v1/threads', {})) as { thread: { id: string } };
  await post('/v1/responses', { model: 'sim/echo', input: 'Hello.', conversation: thread.id });
  const runs = await fetch(`${url}/api/chats/${thread.id}/runs`, { headers });
  const { data } = (await runs.json()) as { data: { id: string }[] };
  return { thread: thread.id, run: data[0]?.id ?? '' };
}
