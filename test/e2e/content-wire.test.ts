import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraceContent } from '../../src/shared/contract/content.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  daemon = await startDaemon({
    config: `upstreams: [{ name: up, base_url: "${fake.baseUrl}", models: ["*"], wire: chat }]\ncapture: { redact: [email] }\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

interface Answer {
  wire: unknown;
  data: { id: string }[];
  error: { param: string };
}

async function ask(method: string, json?: object, path = '/v1/capture/wire') {
  const reply = await daemon.fetch(path, {
    method,
    ...(json && { json }),
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  return { status: reply.status, body: (await reply.json()) as Answer };
}

/** Makes a call; returns its stream as the client got it, and its content. */
async function call(text: string, { stream = true, path = '/v1/messages' } = {}) {
  fake.script({ text });
  const body = { model: 'up/any', max_tokens: 100, stream, messages: [{ role: 'user', content: 'Hello' }] };
  const reply = await daemon.fetch(path, {
    json: body,
    headers: { authorization: `Bearer ${daemon.key}` },
  });
  const received = await reply.text();
  const request = String(reply.headers.get('x-request-id'));
  const { body: content } = await ask('GET', undefined, `/v1/traces/${request}/content`);
  return { received, request, content: content as unknown as TraceContent };
}

describe('while streams are kept as they are', () => {
  test('a translated stream has the bytes of the provider, and those of the client', async () => {
    expect(await ask('PUT', { minutes: 10 })).toMatchObject({ status: 200, body: { wire: [{ key: null }] } });
    const { received, request, content } = await call('One word after another.');
    expect(content.wire?.sent?.text).toBe(received);
    expect(content.wire?.received?.text).toContain('chat.completion.chunk');
    expect(content.wire?.received?.text).toContain('[DONE]');
    expect(content.wire?.is_cut).toBe(false);
    const shown = await runCli(['traces', 'show', request, '--wire'], { env: { GATEWAY_HOME: daemon.home } });
    expect(shown.stdout).toContain('── as it came from the provider');
    expect(shown.stdout).toContain('event: message_start');
  });

  test('a whole answer has what the provider returned', async () => {
    const { content } = await call('Whole.', { stream: false, path: '/v1/chat/completions' });
    expect(JSON.parse(content.wire?.received?.text ?? '')).toMatchObject({ object: 'chat.completion' });
    expect(content.wire?.sent).toBeNull();
  });

  test('nothing is kept so of an answer from which something was removed: its pieces would have it', async () => {
    const { content, received } = await call('Write to ann@example.com today.');
    expect(received).toContain('exa');
    expect(content.redacted).toEqual(['email']);
    expect(content.wire).toBeNull();
  });

  test('it can be for the calls of one key, and can be ended', async () => {
    expect((await ask('DELETE')).body.wire).toEqual([]);
    expect((await call('Not kept.')).content.wire).toBeNull();
    const { body: keys } = await ask('GET', undefined, '/v1/workspaces/me/keys');
    expect((await ask('PUT', { minutes: 1, key: 'key_other' })).status).toBe(200);
    expect((await call('Another key.')).content.wire).toBeNull();
    const [key] = keys.data;
    expect((await ask('PUT', { minutes: 1, key: key?.id })).body.wire).toHaveLength(2);
    expect((await call('This key.')).content.wire).not.toBeNull();
    expect((await ask('GET', undefined, '/v1/capture')).body.wire).toHaveLength(2);
    await ask('DELETE');
  });

  test('longer than a day is invalid', async () => {
    expect((await ask('PUT', { minutes: 1441 })).body.error.param).toBe('minutes');
  });
});
