import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { ThreadMessage } from '../../src/shared/contract/threads.ts';
import { openAiAs, type PlaceName, placeNames, placesForThisFile } from '../support/places.ts';

const places = await placesForThisFile();
const client = openAiAs({ url: places.daemon.url, key: places.daemon.login });

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { calls: [{ name: 'weather', input: { city: 'Oslo' } }] };

const asOwner = () => ({ authorization: `Bearer ${places.daemon.login}` });

async function made(): Promise<string> {
  const answer = await places.daemon.fetch('/v1/threads', {
    json: {},
    headers: { ...asOwner(), 'content-type': 'application/json' },
  });
  return ((await answer.json()) as { thread: { id: string } }).thread.id;
}

async function said(id: string) {
  const answer = await places.daemon.fetch(`/v1/threads/${id}/messages`, { headers: asOwner() });
  const { data } = (await answer.json()) as { data: ThreadMessage[] };
  return data.filter(({ type }) => type !== 'reasoning').map(({ role, type }) => [role, type]);
}

/** What a provider was sent last holds all of this. */
function expectSent(place: PlaceName, texts: string[]): void {
  if (place === 'simulator') return;
  const sent = JSON.stringify(places.lastBody(place));
  for (const text of texts) expect(sent).toContain(text);
}

describe.each(placeNames)('a thread that is answered by %s', (place) => {
  test.each([false, true])('holds tools over calls of both formats (streamed: %s)', async (stream) => {
    const conversation = await made();
    const respond = async (input: OpenAI.Responses.ResponseInput) => {
      const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: false }];
      const body = { model: places.say(place, weather), input, tools, conversation, store: false };
      if (!stream) return await client.responses.create(body);
      return await client.responses.stream(body).finalResponse();
    };
    const complete = async (messages: OpenAI.Chat.ChatCompletionMessageParam[]) => {
      const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
      const asked = { messages, tools, service: { thread: conversation } };
      const body = { ...asked, model: places.say(place, { text: 'It is mild in Oslo.' }) };
      if (!stream) return (await client.chat.completions.create(body)).choices[0]?.message.content;
      return await client.chat.completions.stream(body).finalContent();
    };
    const first = await respond([{ role: 'user', content: 'Weather in Oslo?' }]);
    const call = first.output.find(({ type }) => type === 'function_call') as { call_id: string };
    const content = await complete([{ role: 'tool', tool_call_id: call.call_id, content: '18 degrees' }]);
    expect(content).toBeTruthy();
    expectSent(place, ['Weather in Oslo?', '18 degrees']);
    await complete([{ role: 'user', content: 'Weather there tomorrow?' }]);
    if (place !== 'simulator')
      expectSent(place, ['Weather in Oslo?', '18 degrees', 'mild in Oslo', 'tomorrow?']);
    expect((await said(conversation)).slice(0, 5)).toEqual([
      ['user', 'message'],
      ['assistant', 'function_call'],
      ['tool', 'function_call_output'],
      ['assistant', 'message'],
      ['user', 'message'],
    ]);
  });
});
