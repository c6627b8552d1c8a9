import { afterAll, beforeAll, expect, test } from 'vitest';
import { drips, stallsAfter } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';

let chaos: ChaosUpstream;

beforeAll(async () => {
  chaos = await startChaosUpstream(drips(1));
  chaos.on('stalled', stallsAfter(4));
});

afterAll(async () => {
  await chaos.close();
});

async function ask({ url, login }: ChildDaemon, path: string, json?: object) {
  const answer = await fetch(url + path, {
    ...(json && { method: 'POST', body: JSON.stringify(json) }),
    headers: { authorization: `Bearer ${login}`, 'content-type': 'application/json' },
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
  return { status: answer.status, body: (await answer.json()) as any };
}

const say = (daemon: ChildDaemon, model: string, thread: string, more: object = {}) =>
  ask(daemon, '/v1/responses', { model, input: 'Go.', conversation: thread, ...more });

test('after a kill, running runs have failed, and their threads are idle and unchanged', async ({
  onTestFinished,
}) => {
  const killed = await startChildDaemon({ config: chaosConfig(chaos.baseUrl) });
  onTestFinished(() => killed.remove());
  const threads: string[] = [];
  for (const background of [false, true]) {
    const { thread } = (await ask(killed, '/v1/threads', {})).body;
    threads.push(thread.id);
    expect((await say(killed, 'chat/fine', thread.id)).status).toBe(200);
    const running = say(killed, 'chat/stalled', thread.id, { background });
    running.catch(() => {});
    await eventually('a provider is asked', async () => {
      const { body } = await ask(killed, `/api/chats/${thread.id}/runs`);
      const { data } = (await ask(killed, `/api/chats/${thread.id}/runs/${body.data[0].id}/events`)).body;
      return body.data.length === 2 && data.length === 2;
    });
    expect((await ask(killed, `/v1/threads/${thread.id}`)).body.thread.working).toBe(true);
  }
  killed.signal('SIGKILL');
  await killed.ended;

  const daemon = await startChildDaemon({ home: killed.home });
  onTestFinished(() => daemon.remove());
  for (const id of threads) {
    expect((await ask(daemon, `/v1/threads/${id}`)).body.thread.working).toBe(false);
    const [last, first] = (await ask(daemon, `/api/chats/${id}/runs`)).body.data;
    expect([first.status, last.status, last.error.code]).toEqual(['completed', 'failed', 'server_error']);
    const { data: events } = (await ask(daemon, `/api/chats/${id}/runs/${last.id}/events`)).body;
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'run_started',
      'model_stream_started',
      'run_failed',
    ]);
    expect((await ask(daemon, `/v1/threads/${id}/messages`)).body.data.length).toBe(2);
    expect((await say(daemon, 'chat/fine', id)).status).toBe(200);
    expect((await ask(daemon, `/v1/threads/${id}/messages`)).body.data.length).toBe(4);
  }
});
