import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { ThreadMessage } from '../../src/shared/contract/threads.ts';
import { type BackendName, backendNames, backendsForThisFile, openAiAs } from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const client = openAiAs({ url: backends.daemon.url, key: backends.daemon.login });

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { calls: [{ name: 'weather', input: { city: 'Oslo' } }] };

const asOwner = () => ({ authorization: `Bearer ${backends.daemon.login}` });

async function made(): Promise<string> {
  const answer = await backends.daemon.fetch('/v1/threads', {
    json: {},
    headers: { ...asOwner(), 'content-type': 'application/json' },
  });
  return ((await answer.json()) as { thread: { id: string } }).thread.id;
}

async function said(id: string) {
  const answer = await backends.daemon.fetch(`/v1/threads/${id}/messages`, { headers: asOwner() });
  const { data } = (await answer.json()) as { data: ThreadMessage[] };
  return data.filter(({ type }) => type !== 'reasoning').map(({ role, type }) => [role, type]);
}

/** What a provider was sent last holds all of this. */
function expectSent(backend: BackendName, texts: string[]): void {
  if (backend === 'simulator') return;
  const sent = JSON.stringify(backends.lastBody(backend));
  for (const text of texts) expect(sent).toContain(text);
}

describe.each(backendNames)('a thread answered by %s', (backend) => {
  test.each([false, true])('keeps tool calls across both formats (streamed: %s)', async (stream) => {
    const conversation = await made();
    const respond = async (input: OpenAI.Responses.ResponseInput) => {
      const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: false }];
      const body = { model: backends.script(backend, weather), input, tools, conversation, store: false };
      if (!stream) return await client.responses.create(body);
      return await client.responses.stream(body).finalResponse();
    };
    const complete = async (messages: OpenAI.Chat.ChatCompletionMessageParam[]) => {
      const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
      const asked = { messages, tools, service: { thread: conversation } };
      const body = { ...asked, model: backends.script(backend, { text: 'It is mild in Oslo.' }) };
      if (!stream) return (await client.chat.completions.create(body)).choices[0]?.message.content;
      return await client.chat.completions.stream(body).finalContent();
    };
    const first = await respond([{ role: 'user', content: 'Weather in Oslo?' }]);
    const call = first.output.find(({ type }) => type === 'function_call') as { call_id: string };
    const content = await complete([{ role: 'tool', tool_call_id: call.call_id, content: '18 degrees' }]);
    expect(content).toBeTruthy();
    expectSent(backend, ['Weather in Oslo?', '18 degrees']);
    await complete([{ role: 'user', content: 'Weather there tomorrow?' }]);
    if (backend !== 'simulator')
      expectSent(backend, ['Weather in Oslo?', '18 degrees', 'mild in Oslo', 'tomorrow?']);
    expect((await said(conversation)).slice(0, 5)).toEqual([
      ['user', 'message'],
      ['assistant', 'function_call'],
      ['tool', 'function_call_output'],
      ['assistant', 'message'],
      ['user', 'message'],
    ]);
  });
});
