import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOfCall } from '../../../src/cli/content/call-content.ts';
import { chatPassages, formatPassages, passagesOf } from '../../../src/cli/content/conversation-text.ts';
import type { Client } from '../../../src/shared/client.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { receivedError } from '../../../src/shared/received-error.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

const textOf = (passages: ReturnType<typeof passagesOf>) => formatPassages(passages, (_style, text) => text);

describe('a conversation as text', () => {
  test('has a heading for each speaker, and one line for what is not text', () => {
    const items = [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(16_000)}` },
          { type: 'input_image', image_url: 'https://example.org/a.png' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          { type: 'input_audio', input_audio: {} },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A cat.' }] },
      { type: 'function_call', name: 'look', arguments: '{\n  "at": "it"\n}' },
      { type: 'function_call_output', output: 'a\ncat' },
      { type: 'web_search_call' },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ];
    expect(textOf(passagesOf(items))).toBe(`developer
Be brief.

user
What is this?
[image image/png, 12 kB]
[image https://example.org/a.png]
[file a.pdf, 3 bytes]
[input audio]

reasoning
A cat.

assistant
[call look({ "at": "it" })]

tool
[result a cat]

assistant
[web search call]
No.
`);
  });

  test('of a chat reads the same', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'x' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', content: 'done' },
    ];
    expect(textOf(chatPassages(messages))).toBe(
      'user\nHi\n[image x]\n\nassistant\n[call f({})]\n\ntool\n[result done]\n',
    );
  });

  test('has no control characters', () => {
    const hostile = 'a\u001b[2Jb\u001b]0;title\u0007c\r\nd\u0000\u009be\u202ef\tg';
    expect(textOf([{ role: 'u\u001b[31mser', text: hostile }])).toMatch(/^user\nabc\nd.*ef\tg\n$/);
    expect(textOf([{ role: 'user', text: hostile }])).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
  });
});

test.each([
  [{ status: 'canceled' }, 'The call was canceled before there was an answer to store'],
  [{ status: 'completed' }, 'It was sent with `store: false`'],
  [{ status: 'canceled', endpoint: '/v1/messages' }, 'Messages are never stored.'],
] as const)('why %j is not stored', async (trace, reason) => {
  const missing = async () => {
    throw receivedError(404, {}, '{"error":{"code":"not_found"}}');
  };
  const client = { call: missing } as unknown as Client;
  const call = { request_id: 'req_x', response_id: 'resp_x', endpoint: '/v1/responses', ...trace };
  const content = await contentOfCall(client, call, undefined);
  expect(content).toEqual({ source: null, reason: expect.stringContaining(` are not stored. ${reason}`) });
});

describe.each([
  ['with log.bodies', 'log: { bodies: true }'],
  ['without log.bodies', ''],
])('what was asked and answered, %s', (_name, config) => {
  let daemon: RunningDaemon;
  const hasLog = config !== '';

  beforeAll(async () => {
    daemon = await startDaemon({ config });
  });

  afterAll(() => daemon.stop());

  const run = (line: string[], options: { tty?: true } = {}) =>
    runCli(line, { env: { GATEWAY_HOME: daemon.home, NO_COLOR: '1' }, ...options });

  /** Makes a call and returns the id of its request. */
  async function call(path: string, body: object): Promise<string> {
    const reply = await daemon.fetch(path, { json: { model: 'sim/assistant', ...body } });
    await reply.text();
    return reply.headers.get('x-request-id') ?? '';
  }

  test.each([{}, { tty: true as const }])('is shown for a stored response: %j', async (options) => {
    const request = await call('/v1/responses', { instructions: 'Be brief.', input: 'Hello\u001b[31m!' });
    const { code, stdout } = await run(['traces', 'show', request, '--body'], options);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^system\nBe brief\.\n\nuser\nHello!\n\nassistant\nYou said: “Hello!”.*\n$/),
    ]);
    const { stdout: json } = await run(['traces', 'show', request, '--body', '--json']);
    expect(JSON.parse(json)).toMatchObject({
      request_id: request,
      source: 'response',
      response: { object: 'response', instructions: 'Be brief.' },
      input: [{ role: 'user', content: [{ text: 'Hello\u001b[31m!' }] }],
    });
  });

  test('is shown by `responses get` on a terminal; a pipe gets the answer', async () => {
    const reply = await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello' } });
    const { id } = (await reply.json()) as { id: string };
    expect((await run(['responses', 'get', id], { tty: true })).stdout).toBe(
      'user\nHello\n\nassistant\nHello\n',
    );
    expect((await run(['responses', 'get', id])).stdout).toBe('Hello\n');
  });

  test.each([{}, { tty: true as const }])(
    'says that a response may not have been stored: %j',
    async (options) => {
      const body = { model: 'sim/echo', input: 'Hello', store: false };
      const { id } = (await (await daemon.fetch('/v1/responses', { json: body })).json()) as { id: string };
      const { code, stderr } = await run(['responses', 'get', id], options);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('Responses with `store: false` are not kept.'),
      ]);
    },
  );

  const notStored = /Prompt and answer are not stored\..*gateway config set log\.bodies true/s;

  test.each([
    ['/v1/responses', { input: 'Hello', store: false }],
    ['/v1/responses', { input: 'Hello', store: false, stream: true }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }], stream: true }],
  ])('is in the log at most for %s %j', async (path, body) => {
    const request = await call(path, body);
    const { code, stdout, stderr } = await run(['traces', 'show', request, '--body']);
    if (!hasLog) return expect([code, stderr]).toEqual([exitCodes.failed, expect.stringMatching(notStored)]);
    expect(stdout).toMatch(/^user\nHello\n\nassistant\nYou said: “Hello”.*\n$/);
  });

  test('has the calls of functions in a chat stream, too', async () => {
    const request = await call('/v1/chat/completions', {
      stream: true,
      messages: [{ role: 'user', content: 'Weather in Paris?' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
      tool_choice: 'required',
    });
    const { stdout } = await run(['traces', 'show', request, '--body']);
    if (hasLog) expect(stdout).toMatch(/\n\nassistant\n\[call weather\(\{.*\}\)\]\n$/);
  });

  test('is for those who may read responses', async () => {
    const request = await call('/v1/responses', { input: 'Hello' });
    const issued = await run(['keys', 'issue', '--name', 'watcher', '--scope', 'traces:read', '--quiet']);
    const env = { GATEWAY_HOME: daemon.home, GATEWAY_KEY: issued.stdout.trim() };
    const { code, stdout, stderr } = await runCli(['traces', 'show', request, '--body'], { env });
    expect([code, stdout, stderr]).toEqual([exitCodes.refused, '', expect.stringContaining('responses')]);
  });
});
