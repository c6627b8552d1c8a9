import { describe, expect, onTestFinished, test } from 'vitest';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeGemini } from './fake-gemini.ts';
import type { Json } from './scripted-provider.ts';

async function post(url: string, body: unknown, headers: Record<string, string>) {
  const sent = { 'content-type': 'application/json', ...headers };
  const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
  return { status: answer.status, text: await answer.text() };
}

describe('the Anthropic fake refuses', () => {
  const hello = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
  const call = { type: 'tool_use', id: 'a', name: 'look', input: {} };
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] };
  const said = (...content: Json[]) => ({ role: 'assistant', content });
  const good = { model: 'claude-sonnet-4-6', max_tokens: 10, messages: [hello], stream: true };
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];

  const ask = async (body: unknown, headers: Record<string, string> = {}) => {
    const fake = await startFakeAnthropic();
    onTestFinished(() => fake.close());
    const url = `${fake.baseUrl}/v1/messages`;
    return post(url, body, { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...headers });
  };

  test('nothing in a valid request', async () => {
    const { status, text } = await ask({ ...good, messages: [hello, said(call), result], tools });
    expect(status).toBe(200);
    expect(text.startsWith('event: message_start\n')).toBe(true);
    expect(text.endsWith('data: {"type":"message_stop"}\n\n')).toBe(true);
  });

  test.each<[string, Json, string]>([
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens'],
    ['unknown fields', { seed: 1 }, 'seed: Extra inputs'],
    ['the assistant first', { messages: [said({ type: 'text', text: 'x' })] }, 'first message'],
    [
      'an empty text',
      { messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] },
      'non-whitespace',
    ],
    ['a call without result', { messages: [hello, said(call), hello] }, 'without `tool_result`'],
    ['a result without call', { messages: [result] }, 'unexpected `tool_use_id`'],
    [
      'a result after text',
      { messages: [hello, said(call), { ...result, content: [...hello.content, ...result.content] }] },
      'must come first',
    ],
    ['a strange id', { messages: [hello, said({ ...call, id: 'a.b' }), hello] }, 'pattern'],
    [
      'a foreign signature',
      { messages: [hello, said({ type: 'thinking', thinking: 'x', signature: 'y' }, call), result] },
      'Invalid `signature`',
    ],
    [
      'thoughts at the end of a turn',
      { messages: [hello, said({ type: 'redacted_thinking', data: 'x' }), hello] },
      'final block',
    ],
    ['prefill', { messages: [hello, said({ type: 'text', text: 'x' })] }, 'prefill'],
    ['a budget above max_tokens', { thinking: { type: 'enabled', budget_tokens: 1024 } }, 'greater than'],
    ['temperature of a new model', { model: 'claude-opus-5', temperature: 1 }, 'deprecated'],
    [
      'a forced tool of the newest',
      { model: 'claude-opus-5-5', tools, tool_choice: { type: 'any' } },
      'not supported',
    ],
    ['a tool without an object', { tools: [{ name: 'look', input_schema: {} }] }, 'input_schema.type'],
    [
      'an open schema',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      'additionalProperties',
    ],
  ])('%s', async (_what, change, message) => {
    const { status, text } = await ask({ ...good, ...change });
    expect(status).toBe(400);
    expect(text).toContain(JSON.stringify(message).slice(1, -1));
  });

  test('a call without a version', async () => {
    expect((await ask(good, { 'anthropic-version': '' })).status).toBe(400);
  });
});

describe('the Gemini fake refuses', () => {
  const hello = { role: 'user', parts: [{ text: 'Hello' }] };
  const call = {
    functionCall: { name: 'look', args: {} },
    thoughtSignature: 'skip_thought_signature_validator',
  };
  const response = { functionResponse: { name: 'look', response: {} } };
  const ask = async (body: unknown, model = 'gemini-3-flash-preview') => {
    const fake = await startFakeGemini();
    onTestFinished(() => fake.close());
    const url = `${fake.baseUrl}/models/${model}:streamGenerateContent?alt=sse`;
    return post(url, body, { 'x-goog-api-key': 'k' });
  };
  const turn = (...parts: Json[]) => ({ role: 'model', parts });
  const back = (...parts: Json[]) => ({ role: 'user', parts });

  test('nothing in a valid request', async () => {
    const { status, text } = await ask({ contents: [hello, turn(call), back(response)] });
    expect(status).toBe(200);
    expect(text).toContain('"finishReason":"STOP"');
  });

  test.each<[string, Json, string]>([
    ['unknown fields', { contents: [hello], model: 'x' }, 'Unknown name'],
    ['other roles', { contents: [{ ...hello, role: 'system' }] }, 'valid role'],
    ['an empty turn', { contents: [{ role: 'user', parts: [] }] }, 'must not be empty'],
    ['the model’s last word', { contents: [hello, turn({ text: 'x' })] }, 'end with a user role'],
    [
      'too few responses',
      { contents: [hello, turn(call, call), back(response)] },
      'number of function response',
    ],
    [
      'a response without name',
      { contents: [back({ functionResponse: { name: '', response: {} } })] },
      'Name cannot be empty',
    ],
    [
      'a response that is no object',
      { contents: [back({ functionResponse: { name: 'x', response: 'y' } })] },
      'Struct',
    ],
    [
      'a call without signature',
      { contents: [hello, turn({ functionCall: call.functionCall }), back(response)] },
      'missing a',
    ],
    [
      'a foreign signature',
      { contents: [hello, turn({ ...call, thoughtSignature: 'x' }), back(response)] },
      'Corrupted',
    ],
    [
      'a level and a budget',
      {
        contents: [hello],
        generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 1 } },
      },
      'only one',
    ],
    ['penalties', { contents: [hello], generationConfig: { presencePenalty: 1 } }, 'Penalty'],
  ])('%s', async (_what, body, message) => {
    const { status, text } = await ask(body);
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  test('what only newer models accept', async () => {
    const generationConfig = { responseMimeType: 'application/json' };
    const tools = [{ functionDeclarations: [{ name: 'look' }] }];
    expect((await ask({ contents: [hello], tools, generationConfig })).status).toBe(200);
    expect((await ask({ contents: [hello], tools, generationConfig }, 'gemini-2.5-pro')).status).toBe(400);
  });
});
