import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run, RunEvent } from '../../src/shared/contract/chats.ts';
import type { ErrorReply } from '../../src/shared/contract/error-reply.ts';
import type { Thread, ThreadEvent, ThreadMessage } from '../../src/shared/contract/threads.ts';
import { SseReader } from '../../src/shared/http/sse.ts';
import { answers, pausesAfter } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { openSocket } from '../support/socket-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let chaos: ChaosUpstream;
let daemon: RunningDaemon;
let openai: OpenAI;

beforeAll(async () => {
  chaos = await startChaosUpstream(answers());
  daemon = await startDaemon({ config: chaosConfig(chaos.baseUrl) });
  openai = new OpenAI({ apiKey: daemon.login, baseURL: `${daemon.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await daemon.stop();
  await chaos.close();
});

const asOwner = () => ({ authorization: `Bearer ${daemon.login}` });

async function ask(path: string, init: RequestInit & { json?: unknown } = {}) {
  const answer = await daemon.fetch(path, {
    ...init,
    headers: { ...init.headers, ...jsonOf(init), ...asOwner() },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const jsonOf = ({ json }: { json?: unknown }) =>
  json === undefined ? undefined : { 'content-type': 'application/json' };

async function made(title?: string): Promise<string> {
  const { body } = await ask('/v1/threads', { json: title === undefined ? {} : { title } });
  return (body.thread as Thread).id;
}

const shown = async (id: string) => (await ask(`/v1/threads/${id}`)).body.thread as Thread;
const said = async (id: string) => {
  const { body } = await ask(`/v1/threads/${id}/messages?limit=100`);
  return (body.data as ThreadMessage[]).map(({ role, type, content }) => [
    role,
    type === 'message' ? content.map(({ text }) => text).join('') : type,
  ]);
};
const runsOf = async (id: string) => (await ask(`/api/chats/${id}/runs`)).body.data as Run[];
const typesOf = async (id: string, run: string) =>
  ((await ask(`/api/chats/${id}/runs/${run}/events`)).body.data as RunEvent[]).map(({ type }) => type);

const slow = { model: 'sim/slow', input: 'Write 300 words about rain.' };

/** Begins a slow answer in a thread, and waits until it runs. */
async function running(id: string) {
  const left = new AbortController();
  const answer = daemon.fetch('/v1/responses', {
    json: { ...slow, service: { thread: id } },
    headers: asOwner(),
    signal: left.signal,
  });
  answer.catch(() => {});
  await eventually('the thread works', async () => (await shown(id)).working);
  return { answer, left };
}

/** The events of a thread, until there are so many. */
async function followed(
  id: string,
  count: number,
  { after, lastId }: { after?: number; lastId?: string } = {},
) {
  const query = after === undefined ? '' : `?after=${after}`;
  const leaving = new AbortController();
  const answer = await daemon.fetch(`/v1/threads/${id}/events${query}`, {
    headers: { ...asOwner(), ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: leaving.signal,
  });
  const reader = new SseReader();
  const events: ThreadEvent[] = [];
  try {
    for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
      for (const { data, event, id: reported } of reader.push(chunk)) {
        const view = JSON.parse(data) as ThreadEvent;
        expect([event, reported]).toEqual([view.type, String(view.sequence)]);
        events.push(view);
      }
      if (events.length >= count) break;
    }
  } finally {
    leaving.abort();
  }
  return events;
}

describe('a thread', () => {
  test('is created, listed, renamed and deleted', async () => {
    const id = await made('Rain');
    expect(await shown(id)).toMatchObject({ id, title: 'Rain', working: false });
    const renamed = await ask(`/v1/threads/${id}`, {
      method: 'PATCH',
      body: '{"title":"Snow"}',
      json: undefined,
      headers: { 'content-type': 'application/json' },
    });
    expect(renamed.body.thread).toMatchObject({ id, title: 'Snow' });
    const listed = await ask('/v1/threads?limit=1');
    expect(listed.body).toMatchObject({ object: 'list', data: [{ id, title: 'Snow' }] });
    expect((await ask(`/v1/threads/${id}`, { method: 'DELETE' })).body).toEqual({
      id,
      object: 'thread',
      deleted: true,
    });
    expect((await ask(`/v1/threads/${id}`)).status).toBe(404);
    expect((await ask(`/v1/threads/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  test('is listed page by page, newest first', async () => {
    const ids = [await made(), await made(), await made()].reverse();
    const first = (await ask('/v1/threads?limit=2')).body as {
      data: Thread[];
      next: string;
      has_more: boolean;
    };
    expect(first.has_more).toBe(true);
    const second = (await ask(`/v1/threads?limit=1&after=${first.next}`)).body as { data: Thread[] };
    expect([...first.data, ...second.data].map((thread) => thread.id)).toEqual(ids);
  });

  test('requires the threads scope of a key that calls in it', async () => {
    const id = await made();
    const answer = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/echo', input: 'Hi.', conversation: id },
    });
    expect(answer.status).toBe(403);
    expect(((await answer.json()) as ErrorReply).error).toMatchObject({
      code: 'out_of_scope',
      param: 'conversation',
    });
    expect(await runsOf(id)).toEqual([]);
  });
});

describe('a conversation of the OpenAI SDK', () => {
  test('is continued, streamed or not', async () => {
    const id = await made();
    const first = await openai.responses.create({
      model: 'sim/echo',
      input: 'My name is Ada.',
      conversation: id,
    });
    expect(first.conversation).toEqual({ id });
    const stream = await openai.responses.create({
      model: 'sim/echo',
      input: [{ role: 'user', content: 'And yours?' }],
      conversation: { id },
      stream: true,
      store: false,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe('response.completed');
    expect(await said(id)).toEqual([
      ['user', 'My name is Ada.'],
      ['assistant', 'My name is Ada.'],
      ['user', 'And yours?'],
      ['assistant', 'And yours?'],
    ]);
    expect(await shown(id)).toMatchObject({ title: 'My name is Ada.', working: false });
    const [second, before] = await runsOf(id);
    expect(second).toMatchObject({
      status: 'completed',
      model: 'sim/echo',
      provider: 'simulator',
      error: null,
    });
    expect(before?.meta.responseId).toBe(first.id);
    expect(second?.usage?.inputTokens).toBeGreaterThan(before?.usage?.inputTokens ?? 0);
    expect(await typesOf(id, second?.id ?? '')).toEqual([
      'run_started',
      'model_stream_started',
      'model_finished',
      'run_completed',
    ]);
  });

  test('continues with a tool output for a call of an earlier run', async () => {
    const id = await made();
    const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: false }];
    const first = await openai.responses.create({
      model: 'sim/assistant',
      input: 'Rome?',
      tools,
      conversation: id,
    });
    const call = first.output.find((item) => item.type === 'function_call');
    const input = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: '18 °C' }];
    const second = await openai.responses.create({ model: 'sim/assistant', input, tools, conversation: id });
    expect(second.output_text).toContain('18 °C');
    expect((await said(id)).map(([role]) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test.each([
    [{ conversation: 'th_none' }, 404, 'conversation'],
    [{ conversation: {} }, 400, 'conversation.id'],
    [{ conversation: 'th_1', previous_response_id: 'resp_1' }, 400, 'previous_response_id'],
    [{ conversation: 'th_1', service: { thread: 'th_2' } }, 400, 'service.thread'],
    [{ service: { thread: 'th_none' }, stream: true }, 404, 'service.thread'],
    [{ service: { thread: 'th_none' }, background: true }, 404, 'service.thread'],
  ])('is rejected: %j', async (member, status, param) => {
    const { status: reported, body } = await ask('/v1/responses', {
      json: { model: 'sim/echo', input: 'Hi.', ...member },
    });
    expect([reported, (body as ErrorReply).error.param]).toEqual([status, param]);
  });

  test('is not compacted or warmed up', async () => {
    const json = { model: 'sim/echo', input: 'Hi.', conversation: await made() };
    expect((await ask('/v1/responses/compact', { json })).status).toBe(400);
  });
});

describe('a call in the chat format', () => {
  const chat = (id: string, text: string, stream = false) =>
    ask('/v1/chat/completions', {
      json: {
        model: 'sim/echo',
        messages: [{ role: 'user', content: text }],
        stream,
        service: { thread: id },
      },
    });

  test('sends only new messages, and can be continued in either format', async () => {
    const id = await made();
    expect((await chat(id, 'One.')).status).toBe(200);
    const answer = await daemon.fetch('/v1/chat/completions', {
      json: {
        model: 'sim/echo',
        messages: [{ role: 'user', content: 'Two.' }],
        stream: true,
        service: { thread: id },
      },
      headers: asOwner(),
    });
    expect(await answer.text()).toContain('[DONE]');
    await openai.responses.create({ model: 'sim/echo', input: 'Three.', conversation: id });
    expect((await said(id)).map(([, text]) => text)).toEqual([
      'One.',
      'One.',
      'Two.',
      'Two.',
      'Three.',
      'Three.',
    ]);
    const usages = (await runsOf(id)).map(({ usage }) => usage?.inputTokens ?? 0);
    expect(usages).toEqual(usages.toSorted((a, b) => b - a));
    expect(new Set(usages).size).toBe(3);
  });
});

describe('a response on a socket', () => {
  test('is a run of its thread, and cannot prepare a context in it', async () => {
    const id = await made();
    const client = await openSocket(`${daemon.url}/v1/responses`, { key: daemon.login });
    const create = { type: 'response.create', model: 'sim/echo', store: false, conversation: id };
    for (const input of ['One.', 'Two.']) {
      const events = await client.ask({ ...create, input });
      expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { conversation: { id } } });
    }
    expect((await said(id)).map(([, text]) => text)).toEqual(['One.', 'One.', 'Two.', 'Two.']);
    const [refused] = await client.ask({ ...create, input: 'Three.', generate: false });
    expect(refused).toMatchObject({ type: 'error', error: { param: 'conversation' } });
    expect(await shown(id)).toMatchObject({ working: false });
  });
});

describe('a background response', () => {
  test('is a run of its thread', async () => {
    const id = await made();
    const { promise: seen, resolve: goOn } = Promise.withResolvers<void>();
    chaos.on('waiting', pausesAfter(2, seen));
    const { body } = await ask('/v1/responses', {
      json: { model: 'chat/waiting', input: 'Hello.', background: true, conversation: id },
    });
    expect(body).toMatchObject({ status: 'queued', conversation: { id } });
    expect(await shown(id)).toMatchObject({ working: true, title: 'Hello.' });
    goOn();
    await eventually('the thread is done', async () => !(await shown(id)).working);
    expect((await said(id)).length).toBe(2);
    expect((await runsOf(id)).map(({ status }) => status)).toEqual(['completed']);
  });

  test('is cancelled by stopping its thread', async () => {
    const id = await made();
    const { body } = await ask('/v1/responses', { json: { ...slow, background: true, conversation: id } });
    expect((await ask(`/v1/threads/${id}/stop`, { method: 'POST' })).body.thread).toMatchObject({
      working: false,
    });
    expect((await runsOf(id)).map(({ status }) => status)).toEqual(['cancelled']);
    expect((await ask(`/v1/responses/${body.id}`)).body.status).toBe('cancelled');
  });
});

describe('a busy thread', () => {
  test('rejects a second run, and is idle again once stopped', async () => {
    const id = await made();
    const { answer } = await running(id);
    const second = await ask('/v1/responses', {
      json: { model: 'sim/echo', input: 'Now?', conversation: id },
    });
    expect([second.status, (second.body as ErrorReply).error.code]).toEqual([409, 'conflict']);
    for (const _ of [1, 2]) {
      const stopped = await ask(`/v1/threads/${id}/stop`, { method: 'POST' });
      expect(stopped.body.thread).toMatchObject({ id, working: false });
    }
    expect((await answer).status).toBe(409);
    expect(await said(id)).toEqual([]);
    expect((await runsOf(id)).map(({ status }) => status)).toEqual(['cancelled']);
    expect(
      (await ask('/v1/responses', { json: { model: 'sim/echo', input: 'Now?', conversation: id } })).status,
    ).toBe(200);
    expect((await said(id)).length).toBe(2);
  });

  test('ends a stream with the reason when stopped', async () => {
    const id = await made();
    const stream = await openai.responses.create({ ...slow, conversation: id, stream: true });
    let stop: Promise<unknown> | undefined;
    const read = async () => {
      for await (const { type } of stream) {
        if (type === 'response.output_text.delta') stop ??= ask(`/v1/threads/${id}/stop`, { method: 'POST' });
      }
    };
    await expect(read()).rejects.toThrow('The run was stopped.');
    await stop;
    expect((await runsOf(id)).map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('is idle again when its client disconnects', async () => {
    const id = await made();
    const { left } = await running(id);
    left.abort();
    await eventually('the thread is free', async () => !(await shown(id)).working);
    expect((await runsOf(id)).map(({ status, error }) => [status, error])).toEqual([['cancelled', null]]);
  });

  test('is deleted along with its running call, leaving nothing behind', async () => {
    const id = await made();
    const { answer } = await running(id);
    expect((await ask(`/v1/threads/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await answer).status).toBe(409);
    for (const path of ['', '/messages', '/events'])
      expect((await ask(`/v1/threads/${id}${path}`)).status).toBe(404);
    expect(await ask(`/api/chats/${id}/runs`)).toEqual({ status: 404, body: { message: 'Not found.' } });
  });

  test('keeps its messages unchanged when a run fails', async () => {
    const id = await made();
    await openai.responses.create({ model: 'sim/echo', input: 'Well.', conversation: id });
    for (const stream of [false, true]) {
      const answer = await daemon.fetch('/v1/responses', {
        json: { model: 'sim/broken', input: 'Write 50 words about rain.', conversation: id, stream },
        headers: asOwner(),
      });
      await answer.text();
    }
    expect((await said(id)).length).toBe(2);
    const [last] = await runsOf(id);
    expect(last).toMatchObject({ status: 'failed', error: { code: 'upstream_failed' } });
    expect(await typesOf(id, last?.id ?? '')).toEqual(['run_started', 'model_stream_started', 'run_failed']);
  });
});

describe('the events of a thread', () => {
  test('arrive live and can be resumed', async () => {
    const id = await made();
    const live = followed(id, 4);
    await openai.responses.create({ model: 'sim/echo', input: 'Hello.', conversation: id });
    const all = await live;
    expect(all.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['run_started', 1],
      ['model_stream_started', 2],
      ['model_finished', 3],
      ['run_completed', 4],
    ]);
    expect(await followed(id, 2, { after: 2 })).toEqual(all.slice(2));
    expect(await followed(id, 1, { after: 0, lastId: '3' })).toEqual(all.slice(3));
    expect((await ask(`/v1/threads/${id}/events`, { headers: { 'last-event-id': 'x' } })).status).toBe(400);
  });

  test('end when the thread is deleted', async () => {
    const id = await made();
    const answer = await daemon.fetch(`/v1/threads/${id}/events`, { headers: asOwner() });
    const text = answer.text();
    await ask(`/v1/threads/${id}`, { method: 'DELETE' });
    expect(await text).toContain(': following');
  });
});

describe('the site API', () => {
  test('shows a thread as a chat', async () => {
    const { body } = await ask('/api/chats', { json: { title: 'Rain' } });
    const { id } = body.data as { id: string };
    await openai.responses.create({ model: 'sim/echo', input: 'Hello.', conversation: id });
    expect((await ask(`/api/chats/${id}`)).body.data).toMatchObject({ id, title: 'Rain', working: false });
    const me = (await ask('/api/me?chat_limit=1')).body.data as { chatThreads: object[] };
    expect(me.chatThreads).toMatchObject([{ id, title: 'Rain' }]);
    const chats = (await ask('/api/chats?limit=1')).body.data as { id: string }[];
    expect(chats.map((chat) => chat.id)).toEqual([id]);
    expect((await ask(`/api/chats/${id}/messages`)).body.data).toMatchObject([
      { role: 'user', content: 'Hello.', autopilotId: null, meta: { type: 'message' } },
      { role: 'assistant', content: 'Hello.' },
    ]);
  });

  test('lists runs newest first, up to the limit', async () => {
    const id = await made();
    for (const input of ['1', '2', '3'])
      await openai.responses.create({ model: 'sim/echo', input, conversation: id });
    const all = await runsOf(id);
    expect(all.map(({ startedAt }) => startedAt)).toEqual(
      all
        .map(({ startedAt }) => startedAt)
        .toSorted()
        .reverse(),
    );
    expect((await ask(`/api/chats/${id}/runs?limit=2`)).body.data).toEqual(all.slice(0, 2));
    expect((await ask(`/api/chats/${id}/runs?limit=100000`)).body.data).toEqual(all);
    const refused = await ask(`/api/chats/${id}/runs?limit=0`);
    expect([refused.status, refused.body.message]).toEqual([422, 'The given data was invalid.']);
    expect(Object.keys(refused.body.errors as object)).toEqual(['limit']);
  });
});
