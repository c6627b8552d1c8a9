import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatPassages, type Passage, textPassages } from '../../../src/cli/content/conversation-text.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { requestConversation } from '../../../src/view/conversation.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

const textOf = (passages: readonly Passage[]) => formatPassages(passages, (_style, text) => text);

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
    expect(textOf(textPassages(requestConversation({ input: items })))).toBe(`developer
Be brief.

user
What is this?
[image image/png, 11.7 KiB]
[image https://example.org/a.png]
[file a.pdf, 3 B]
[input audio]

reasoning
A cat.

assistant
[call look({"at":"it"})]

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
    expect(textOf(textPassages(requestConversation({ messages })))).toBe(
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
  ['memory', 'It was not captured, or has been deleted'],
  ['off', 'capture.content'],
])('why content is not kept with capture.content: %s', async (content, reason) => {
  const daemon = await startDaemon({ config: `capture: { content: ${content} }` });
  try {
    const headers = { 'x-service-capture': 'off' };
    const json = { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello' }] };
    const reply = await daemon.fetch('/v1/chat/completions', { json, headers });
    await reply.text();
    const env = { GATEWAY_HOME: daemon.home };
    const { code, stderr } = await runCli(
      ['traces', 'show', reply.headers.get('x-request-id') ?? '', '--body'],
      { env },
    );
    expect([code, stderr]).toEqual([exitCodes.failed, expect.stringContaining(reason)]);
  } finally {
    await daemon.stop();
  }
});

describe('what was asked and answered', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon();
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
      source: 'capture',
      request: { instructions: 'Be brief.', input: 'Hello\u001b[31m!' },
      answer: { object: 'response', instructions: 'Be brief.' },
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

  test.each([
    ['/v1/responses', { input: 'Hello', store: false }],
    ['/v1/responses', { input: 'Hello', store: false, stream: true }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }], stream: true }],
    ['/v1/messages', { max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }] }],
    ['/v1/messages', { max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }], stream: true }],
  ])('is shown for %s %j', async (path, body) => {
    const request = await call(path, body);
    const { stdout } = await run(['traces', 'show', request, '--body']);
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
    expect(stdout).toMatch(/\n\nassistant\n\[call weather\(\{.*\}\)\]\n$/);
  });

  const chat = (content: string, more = {}) =>
    call('/v1/chat/completions', { messages: [{ role: 'user', content }], ...more });

  test('is shown as it was received and answered', async () => {
    const request = await chat('On the wire.\u001b[31m', { stream: true });
    const { stdout } = await run(['traces', 'show', request, '--wire'], { tty: true });
    expect(stdout).toMatch(/^── request to \/v1\/chat\/completions\n(.+: .+\n)*authorization: \[removed\]\n/);
    expect(stdout).toContain('"content": "On the wire.\\u001b[31m"');
    expect(stdout).toMatch(/\n── answer, put together\n\n\{\n(.*\n)*.*"object": "chat\.completion"/);
    const { stdout: json } = await run(['traces', 'show', request, '--wire', '--json']);
    expect(JSON.parse(json)).toMatchObject({ object: 'trace.content', request_id: request });
  });

  test('has the times of a stream', async () => {
    const request = await chat('How long?', { stream: true });
    const { stdout } = await run(['traces', 'show', request, '--timing', '--json']);
    const reads = JSON.parse(stdout) as { ms: number; after_ms: number; bytes: number; characters: number }[];
    expect(reads.length).toBeGreaterThan(1);
    expect(reads.reduce((sum, { characters }) => sum + characters, 0)).toBeGreaterThan(10);
    const { stdout: played } = await run(['traces', 'show', request, '--timing'], { tty: true });
    expect(played).toMatch(/How long\?(.*\n)+first text after .*, \d+ pieces with .* in /);
    const { stderr } = await run(['traces', 'show', await chat('Whole.'), '--timing'], { tty: true });
    expect(stderr).toContain('The call was not streamed');
  });

  test('has its cost by kind of token, and where the prompt cache of the call before it ended', async () => {
    await chat('A long winter.');
    const request = await chat('A long winter.');
    const { stdout } = await run(['traces', 'show', request, '--cost'], { tty: true });
    expect(stdout).toMatch(/tokens of +count +per million +cost\ninput +\d/i);
    expect(stdout).toMatch(/charged +\$/);
    expect(stdout).toContain('Unchanged since req_');
    const env = { GATEWAY_HOME: daemon.home };
    const { stdout: coloured } = await runCli(['traces', 'show', request, '--cost'], { env, tty: true });
    expect(stripVTControlCharacters(coloured)).toMatch(/^TOKENS OF +COUNT .*\n/);
    const { stdout: rows } = await run(['traces', 'show', request, '--cost']);
    expect(rows).toMatch(/^input\t\d+\t.*\noutput\t\d+\t.*\n(.+\n)*charged\t/);
    const { stdout: json } = await run(['traces', 'show', request, '--cost', '--json']);
    expect(JSON.parse(json)).toMatchObject({ request_id: request, parts: expect.any(Array) });
  });

  test('is repeated by a command that a shell reads as it was sent', async () => {
    const content = `It's "$HOME" \`id\` \\ ${'ü'} \n; $(id) !`;
    const request = await chat(content);
    const { stdout } = await run(['traces', 'show', request, '--as', 'curl']);
    const shell = `curl() { printf '%s\\0' "$@"; }; gateway() { printf KEY; }; ${stdout}`;
    const words = execFileSync('/bin/sh', ['-c', shell]).toString().split('\0').slice(0, -1);
    expect(words.slice(0, 3)).toEqual([
      `${daemon.url}/v1/chat/completions`,
      '-H',
      'authorization: Bearer KEY',
    ]);
    expect(JSON.parse(words.at(-1) ?? '')).toMatchObject({ messages: [{ role: 'user', content }] });
  });

  test('is not shown in two forms together', async () => {
    const { code, stderr } = await run(['traces', 'show', 'req_1', '--body', '--wire']);
    expect([code, stderr]).toEqual([exitCodes.usage, expect.stringContaining('--timing')]);
  });

  test('is found by a text, counted, and deleted', async () => {
    const request = await chat('Where is the Regenschirm?');
    const found = await run(['traces', 'search', 'regenSCHIRM', '--json']);
    expect(JSON.parse(found.stdout)).toMatchObject({ request_id: request, part: 'request' });
    const status = await run(['capture', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ content: 'memory', dropped: 0 });
    expect(JSON.parse(status.stdout).requests).toBeGreaterThan(0);
    const { stderr: said } = await run(['capture', 'clear', '--yes']);
    expect(said).toMatch(/^Deleted:\n {2}content of calls +\d+\n {2}stored responses +\d+\n/);
    expect(said).toContain('\nKept:\n  traces: ');
    const { stderr } = await run(['traces', 'search', 'regenschirm'], { tty: true });
    expect(stderr).toContain('Not in the 0 calls whose content is kept.');
  });

  test('is searched until Ctrl-C, and printed as it is found', async () => {
    const newest = { request_id: 'req_1', captured_at: '2026-11-23T10:00:00.000Z', part: 'request' };
    const match = { ...newest, snippet: 'an umbrella', start: 3, end: 11 };
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      // The second slice never ends.
      if (asked.length > 1) return;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ object: 'trace.matches', matches: [match], scanned: 40, of: 900, next: 'req_0' }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = ['--host', `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    try {
      for (const [flags, tty] of [
        [['--json'], false],
        [[], true],
      ] as const) {
        asked.length = 0;
        const interrupt = new AbortController();
        const { code, stdout, stderr } = await runCli(['traces', 'search', 'umbrella', ...host, ...flags], {
          env: { GATEWAY_KEY: 'sk_1' },
          tty,
          interrupt: interrupt.signal,
          onStdout: (text) => {
            if (text.includes('an umbrella')) interrupt.abort();
          },
        });
        expect([code, stderr]).toEqual([exitCodes.interrupted, expect.stringContaining('Interrupted.')]);
        if (tty)
          expect(stripVTControlCharacters(stdout)).toMatch(/^REQUEST ID +WHEN +PART +SNIPPET\n.*req_1/);
        else expect(JSON.parse(stdout)).toEqual(match);
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('is for those who may read content', async () => {
    const request = await call('/v1/responses', { input: 'Hello' });
    const issued = await run(['keys', 'issue', '--name', 'watcher', '--scope', 'traces:read', '--quiet']);
    const env = { GATEWAY_HOME: daemon.home, GATEWAY_KEY: issued.stdout.trim() };
    const { code, stdout, stderr } = await runCli(['traces', 'show', request, '--body'], { env });
    expect([code, stdout, stderr]).toEqual([exitCodes.refused, '', expect.stringContaining('content:read')]);
  });
});
