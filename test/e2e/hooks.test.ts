import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

interface Question {
  on: 'request' | 'answer';
  body: { messages?: { content: string }[]; input?: string; model: string };
  answer: { type: string; text?: string; name?: string; arguments?: string }[];
  before: string;
  is_last: boolean;
  [member: string]: unknown;
}

const pass = { action: 'pass' };
const folder = mkdtempSync(join(tmpdir(), 'gateway-hooks-'));
const program = join(folder, 'check.mjs');
/** Refuses, fails, hangs or answers with what is in the request. */
writeFileSync(
  program,
  `#!${process.execPath}
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { body } = JSON.parse(text);
const asked = body.messages?.at(-1).content ?? '';
if (asked.startsWith('refuse')) { process.stderr.write('No weapons, please.'); process.exitCode = 2; }
else if (asked.startsWith('fail')) { process.stderr.write('out of order'); process.exitCode = 1; }
else if (asked.startsWith('variables')) {
  body.messages.at(-1).content = JSON.stringify(process.env);
  console.log(JSON.stringify({ action: 'change', body }));
} else if (asked.startsWith('print ')) console.log(asked.slice(6));
else if (asked.startsWith('hang')) setInterval(() => {}, 1000);
`,
);
chmodSync(program, 0o755);

let openAi: FakeOpenAi;
let daemon: RunningDaemon;
let questions: Question[] = [];
let headers: IncomingMessage['headers'] = {};
let reply: (question: Question) => object | Promise<object> = () => pass;
const server = createServer((request, response) => void answerHook(request, response));

async function answerHook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const question = JSON.parse(await readText(request)) as Question;
  questions.push(question);
  headers = request.headers;
  const answer = await reply(question);
  response.writeHead('status' in answer ? Number(answer.status) : 200).end(JSON.stringify(answer));
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`;
  openAi = await startFakeOpenAi();
  daemon = await startDaemon({
    env: { HOOK_TOKEN: 'hook-canary-Zx81kQv7', OPENAI_API_KEY: 'sk-host-canary-0123456789abcdef' },
    config: `
providers:
  openai: {base_url: "${openAi.baseUrl}"}
upstreams:
  - {name: chat, base_url: "${openAi.baseUrl}", models: ["*"], wire: chat}
hooks:
  - {name: program, on: request, command: "${program}", models: ["chat/program"], timeout_ms: 60000}
  - {name: lenient, on: request, command: ["${program}"], models: ["chat/lenient"], fail: open}
  - {name: service, on: [request, answer], url: "${url}", headers: {authorization: {env: HOOK_TOKEN}}, models: ["*/service*"], window: 40}
`,
  });
});

afterAll(async () => {
  await daemon?.stop();
  await openAi?.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  openAi.forget();
  questions = [];
  reply = () => pass;
});

const chat = (model: string, content: string, more: object = {}) =>
  daemon.fetch('/v1/chat/completions', {
    json: { model, messages: [{ role: 'user', content }], ...more },
  });

async function errorOf(answer: Response): Promise<{ code: string; message: string }> {
  return ((await answer.json()) as { error: { code: string; message: string } }).error;
}

async function traceOf(answer: Response) {
  const path = `/v1/traces/${answer.headers.get('x-request-id')}`;
  const headers = { authorization: `Bearer ${daemon.login}` };
  // Rejections are stored after their answer.
  await expect.poll(async () => (await daemon.fetch(path, { headers })).status).toBe(200);
  return (await (await daemon.fetch(path, { headers })).json()) as {
    status: string;
    hooks?: object[];
    rejection: { message: string };
  };
}

/** The texts and events of a stream. */
function eventsOf(text: string) {
  const events = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
  return { events, said: events.map(({ delta }) => (typeof delta === 'string' ? delta : '')).join('') };
}

describe('a program', () => {
  test('lets a request pass by saying nothing', async () => {
    const answer = await chat('chat/program', 'hello');
    expect(answer.status).toBe(200);
    expect((await traceOf(answer)).hooks).toMatchObject([
      { name: 'program', on: 'request', result: 'passed' },
    ]);
  });

  test('refuses with exit code 2 and a sentence', async () => {
    const answer = await chat('chat/program', 'refuse');
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({
      code: 'guardrail_refused',
      message: 'The hook program refused the request: No weapons, please.',
    });
    expect(openAi.requests).toEqual([]);
    expect(await traceOf(answer)).toMatchObject({ status: 'rejected', rejection: { message: /No weapons/ } });
  });

  test('changes the request, and gets no secrets', async () => {
    expect((await chat('chat/program', 'variables')).status).toBe(200);
    const [sent] = openAi.requests;
    expect(JSON.stringify(sent?.body)).toContain('PATH');
    expect(JSON.stringify(sent?.body)).not.toContain('canary');
  });

  test.each([
    ['fail', 'it ended with exit code 1: out of order'],
    ['print nonsense', 'its answer is not a JSON object'],
    ['print {"action":"shrug"}', 'its answer has no action "pass", "change" or "refuse"'],
    ['print {"action":"change"}', 'its change has no body'],
    [
      'print {"action":"change","body":{"model":"chat/program","messages":7}}',
      'the body of its change is not valid: messages:',
    ],
  ])('that does not answer as it should keeps the request back: %s', async (content, reason) => {
    const answer = await chat('chat/program', content);
    expect(answer.status).toBe(503);
    expect((await errorOf(answer)).message).toBe(
      'The hook program failed, so the request was not let through.',
    );
    const lenient = await chat('chat/lenient', content);
    expect(lenient.status).toBe(200);
    const [run] = ((await traceOf(lenient)).hooks ?? []) as { result: string; message: string }[];
    expect(run?.result).toBe('failed');
    expect(run?.message).toContain(reason);
    expect(openAi.requests).toHaveLength(1);
  });

  test('is ended when its time is over', async () => {
    const answer = chat('chat/program', 'hang');
    const waiting = async (): Promise<void> => {
      daemon.advance(60_000);
      const isOver = await Promise.race([
        answer.then(() => true),
        new Promise((later) => setImmediate(later)),
      ]);
      if (!isOver) await waiting();
    };
    await waiting();
    expect((await answer).status).toBe(503);
  });
});

describe('an address', () => {
  test('gets the call as JSON, with the configured headers', async () => {
    const answer = await chat('chat/service', 'hello', { user: 'ann' });
    await answer.text();
    expect(headers.authorization).toBe('hook-canary-Zx81kQv7');
    expect(questions).toMatchObject([
      {
        on: 'request',
        request_id: answer.headers.get('x-request-id'),
        endpoint: '/v1/chat/completions',
        stream: false,
        model: 'chat/service',
        body: { model: 'chat/service', messages: [{ role: 'user', content: 'hello' }], user: 'ann' },
      },
      {
        on: 'answer',
        provider: 'chat',
        answer: [{ type: 'text', text: 'Hello from the fake provider.' }],
        is_last: true,
      },
    ]);
    expect((await traceOf(answer)).hooks).toMatchObject([
      { on: 'request', result: 'passed' },
      { on: 'answer', result: 'passed' },
    ]);
  });

  test('changes a whole answer of each format', async () => {
    reply = ({ on, answer }) =>
      on === 'request'
        ? pass
        : { action: 'change', answer: answer.map((part) => ({ ...part, text: 'Changed.' })) };
    const bodies = {
      '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
      '/v1/responses': { input: 'hi' },
      '/v1/messages': { messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 },
    };
    for (const model of ['chat/service', 'openai/service'])
      for (const [path, body] of Object.entries(bodies)) {
        const answer = await daemon.fetch(path, { json: { model, ...body } });
        const text = await answer.text();
        expect(text).toContain('Changed.');
        expect(text).not.toContain('Hello from');
      }
  });

  test('refuses a whole answer, whose tokens are counted', async () => {
    reply = ({ on }) => (on === 'request' ? pass : { action: 'refuse', message: 'It is rude.' });
    for (const model of ['chat/service', 'openai/service']) {
      const answer = await chat(model, 'hello');
      expect(answer.status).toBe(400);
      expect((await errorOf(answer)).message).toBe('The hook service refused the answer: It is rude.');
      expect(await traceOf(answer)).toMatchObject({
        status: 'failed',
        error_code: 'guardrail_refused',
        tokens: { input: 11, output: 7 },
        hooks: [{ on: 'request' }, { on: 'answer', result: 'refused', message: 'It is rude.' }],
      });
    }
  });

  test('that answers with an error keeps the request back', async () => {
    reply = () => ({ status: 500 });
    expect((await chat('chat/service', 'hello')).status).toBe(503);
    expect(openAi.requests).toEqual([]);
  });

  test('sees what comes over a WebSocket', async () => {
    reply = () => ({ action: 'refuse', message: 'Not here.' });
    const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${daemon.key}` },
    } as never);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', model: 'openai/service', input: 'hello' }));
    const [{ data }] = (await once(socket, 'message')) as [{ data: string }];
    socket.close();
    expect(data).toContain('The hook service refused the request: Not here.');
    expect(openAi.requests).toEqual([]);
  });
});

describe.each(['chat/service', 'openai/service'])('a stream of %s', (model) => {
  const stream = () => daemon.fetch('/v1/responses', { json: { model, input: 'hi', stream: true } });
  const pieces = ['One two three. ', 'Four five six seven eight. ', 'Nine ten. ', 'Eleven.'];

  test('is held back until the hook has seen the window', async () => {
    const seen = Promise.withResolvers<void>();
    const verdict = Promise.withResolvers<object>();
    reply = ({ on }) => {
      if (on === 'request') return pass;
      seen.resolve();
      return verdict.promise;
    };
    openAi.script({ pieces });
    let isStarted = false;
    const answer = stream().then((started) => {
      isStarted = true;
      return started.text();
    });
    await seen.promise;
    expect(isStarted).toBe(false);
    verdict.resolve(pass);
    expect(eventsOf(await answer).said).toBe(pieces.join(''));
    const answers = questions.filter(({ on }) => on === 'answer');
    const passages = answers.map(({ answer: [part] }) => part?.text ?? '');
    expect(passages.join('')).toBe(pieces.join(''));
    expect(passages[0]?.length).toBeGreaterThanOrEqual(40);
    expect(answers.map(({ before }) => before)).toEqual(
      passages.map((_, at) => passages.slice(0, at).join('')),
    );
  });

  test('is changed piece by piece, also in its final item', async () => {
    reply = ({ on, answer }) =>
      on === 'request'
        ? pass
        : { action: 'change', answer: answer.map((part) => ({ ...part, text: part.text?.toUpperCase() })) };
    openAi.script({ pieces });
    const { events, said } = eventsOf(await (await stream()).text());
    expect(said).toBe(pieces.join('').toUpperCase());
    const done = events.find(({ type }) => type === 'response.completed');
    expect(done.response.output[0].content[0].text).toBe(said);
    expect(JSON.stringify(events)).not.toContain('One two');
  });

  test('ends with response.failed when a later piece is refused', async () => {
    reply = ({ answer }) =>
      answer?.[0]?.text?.includes('Nine') ? { action: 'refuse', message: 'No nines.' } : pass;
    openAi.script({ pieces });
    const { events, said } = eventsOf(await (await stream()).text());
    expect(said).not.toContain('Nine');
    expect(pieces.join('').startsWith(said)).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'guardrail_refused', message: 'The hook service refused the answer: No nines.' },
      },
    });
  });

  test('lets tool calls pass when they are whole', async () => {
    const calls = [
      { name: 'mail', arguments: { to: 'anna' } },
      { name: 'call', arguments: { to: 'bob' } },
    ];
    reply = ({ answer }) =>
      answer === undefined
        ? pass
        : {
            action: 'change',
            answer: answer.map((part) =>
              part.type === 'tool_call'
                ? { ...part, arguments: part.arguments?.replace('anna', 'eve') }
                : part,
            ),
          };
    openAi.script({ text: 'I do.', calls });
    const { events } = eventsOf(await (await stream()).text());
    const done = events.find(({ type }) => type === 'response.completed');
    expect(done.response.output.slice(1)).toMatchObject([
      { type: 'function_call', name: 'mail', arguments: '{"to":"eve"}' },
      { type: 'function_call', name: 'call', arguments: '{"to":"bob"}' },
    ]);
    expect(JSON.stringify(events)).not.toContain('anna');
    for (const { answer = [] } of questions)
      for (const part of answer)
        if (part.type === 'tool_call') expect(JSON.parse(part.arguments ?? '')).toBeTypeOf('object');
  });
});

test('a stream whose answer cannot be seen is refused', async () => {
  const answer = await chat('chat/service', 'hello', { stream: true, n: 2 });
  expect(answer.status).toBe(400);
  expect((await errorOf(answer)).message).toBe(
    'The hook service cannot check a stream with this; send the request without stream.',
  );
});
