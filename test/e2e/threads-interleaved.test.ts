import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Run } from '../../src/shared/contract/chats.ts';
import type { Thread, ThreadEvent, ThreadMessage } from '../../src/shared/contract/threads.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

async function ask<Body>(
  path: string,
  json?: object,
  method?: string,
): Promise<{ status: number; body: Body }> {
  const answer = await daemon.fetch(path, {
    ...(json && { json }),
    ...(method && { method }),
    headers: {
      authorization: `Bearer ${daemon.login}`,
      ...(json && { 'content-type': 'application/json' }),
    },
  });
  const text = await answer.text();
  return { status: answer.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as Body };
}

const made = async () => (await ask<{ thread: Thread }>('/v1/threads', {})).body.thread.id;

/** What may be done to a thread while other things are. */
const acts = ['say', 'stream', 'chat', 'background', 'fail', 'leave', 'stop', 'read'] as const;
type Act = (typeof acts)[number];

const model = (act: Act) => (act === 'fail' ? 'sim/broken' : 'sim/echo');

async function perform(act: Act, id: string): Promise<number> {
  const input = 'Rain falls on the roof and on the street, and nobody minds it much.';
  switch (act) {
    case 'stop':
      return (await ask(`/v1/threads/${id}/stop`, {})).status;
    case 'read':
      return (await ask(`/v1/threads/${id}/messages`)).status;
    case 'chat': {
      const messages = [{ role: 'user', content: input }];
      return (await ask('/v1/chat/completions', { model: 'sim/echo', messages, service: { thread: id } }))
        .status;
    }
    case 'leave': {
      const leaving = new AbortController();
      const call = daemon.fetch('/v1/responses', {
        json: { model: 'sim/echo', input, conversation: id, stream: true },
        headers: { authorization: `Bearer ${daemon.login}` },
        signal: leaving.signal,
      });
      const { status } = await call;
      leaving.abort();
      return status;
    }
    default: {
      const more = { stream: act === 'stream', background: act === 'background' };
      return (await ask('/v1/responses', { model: model(act), input, conversation: id, ...more })).status;
    }
  }
}

/** Stopping ends what runs, also in the background. */
async function settled(id: string): Promise<Run[]> {
  await ask(`/v1/threads/${id}/stop`, {});
  const { thread } = (await ask<{ thread: Thread }>(`/v1/threads/${id}`)).body;
  expect(thread.working).toBe(false);
  return (await ask<{ data: Run[] }>(`/api/chats/${id}/runs`)).body.data;
}

async function eventsOf(id: string, runs: Run[]): Promise<ThreadEvent[]> {
  const all = await Promise.all(
    runs.map(
      async (run) => (await ask<{ data: ThreadEvent[] }>(`/api/chats/${id}/runs/${run.id}/events`)).body.data,
    ),
  );
  return all.flat();
}

test('under any concurrent operations, a thread has the complete turns of its completed runs and ends idle', async () => {
  const plans = fc.array(fc.array(fc.constantFrom(...acts), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(plans, async (rounds) => {
      const id = await made();
      for (const round of rounds) {
        const reported = await Promise.all(round.map((act) => perform(act, id)));
        for (const [at, status] of reported.entries()) {
          const stopped = round.includes('stop') || round[at] === 'fail' ? [502] : [];
          expect([200, 409, ...stopped]).toContain(status);
        }
      }
      const runs = await settled(id);
      const completed = runs.filter(({ status }) => status === 'completed').map((run) => run.id);
      const { data } = (await ask<{ data: ThreadMessage[] }>(`/v1/threads/${id}/messages?limit=100`)).body;
      const expected = completed.toReversed().flatMap((run) => [`${run} user`, `${run} assistant`]);
      expect(data.map(({ run, role }) => `${run} ${role}`)).toEqual(expected);
      const types = (await eventsOf(id, runs)).map(({ type }) => type);
      expect(types.filter((type) => type === 'run_started').length).toBe(runs.length);
      expect(types.filter((type) => /^run_(completed|failed|cancelled)$/.test(type)).length).toBe(
        runs.length,
      );
    }),
    { numRuns: Number(process.env.THREAD_RUNS ?? 20) },
  );
});

test('deleting a thread during calls leaves none of them inconsistent', async () => {
  for (let round = 0; round < 15; round += 1) {
    const id = await made();
    const calls = (['say', 'stream', 'background', 'chat'] as const).map((act) => perform(act, id));
    const gone = ask(`/v1/threads/${id}`, undefined, 'DELETE');
    for (const status of await Promise.all(calls)) expect([200, 404, 409]).toContain(status);
    expect((await gone).status).toBe(200);
    for (const path of [`/v1/threads/${id}`, `/v1/threads/${id}/messages`, `/api/chats/${id}/runs`])
      expect((await ask(path)).status).toBe(404);
  }
});
