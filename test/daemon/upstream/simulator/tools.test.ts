import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { InputItem, ToolChoice } from '../../../../src/daemon/features/upstreams/neutral.ts';
import { user } from '../../../support/inference.ts';
import { called, getAnswer, result, said, startSimulator, tool } from './drive.ts';

const weather = tool('get_weather', {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 1, maximum: 7 },
  },
  required: ['city'],
  additionalProperties: false,
});
const time = tool('get_time', { type: 'object', properties: {} });

const ask = (request: Parameters<typeof getAnswer>[1]) => getAnswer(startSimulator(), request);

test('the first one is called with arguments from the message', async () => {
  const { calls, text, finish } = await ask({
    items: [user('How is the weather in San Francisco?')],
    tools: [weather, time],
  });
  expect(calls).toEqual([{ callId: 'call_1', name: 'get_weather', arguments: '{"city":"San Francisco"}' }]);
  expect(text).toBe('');
  expect(finish).toBe('stop');
});

test.each([
  ['Paris for 3 days in fahrenheit', { unit: 'fahrenheit', days: 3 }],
  ['city: Rome, unit=celsius', { city: 'Rome', unit: 'celsius' }],
  ['weather at "Lake Como" please', { city: 'Lake Como' }],
  ['weather in paris', { city: 'paris' }],
  ['for 99 days', {}],
])('%s', async (message, expected) => {
  const { calls } = await ask({ items: [user(message)], tools: [weather] });
  const given = JSON.parse(calls[0]?.arguments ?? '');
  expect(given).toMatchObject(expected);
  expect(new Ajv2020().validate((weather as { parameters: object }).parameters, given)).toBe(true);
});

test('the one in the message is called instead of the first', async () => {
  const { calls } = await ask({ items: [user('Please use get_time now')], tools: [weather, time] });
  expect(calls.map(({ name }) => name)).toEqual(['get_time']);
});

test('none is called if none is named and an agent offers many', async () => {
  const tools = Array.from({ length: 9 }, (_, index) => tool(`step_${index}`, { type: 'object' }));
  const plain = await ask({ items: [user('Say hello')], tools });
  expect([plain.calls, plain.text]).toEqual([[], expect.stringContaining('Say hello')]);
  const byName = await ask({ items: [user('Use step_7')], tools });
  expect(byName.calls.map(({ name }) => name)).toEqual(['step_7']);
  const required = await ask({ items: [user('Say hello')], tools, toolChoice: { mode: 'required' } });
  expect(required.calls).toHaveLength(1);
});

test('none is called after a result, even if the client adds a hint to it', async () => {
  const items = [user('How is the weather?'), called('get_weather'), result('18 °C')];
  const note = { ...user('Be brief.'), role: 'system' } as InputItem;
  for (const hint of [user('A reminder: get_time is there, too.'), note]) {
    const { calls, text } = await ask({ items: [...items, hint], tools: [weather, time] });
    expect([calls, text]).toEqual([[], expect.stringMatching(/./)]);
  }
});

test.each(['Call both.', 'Use all tools', 'Do it in parallel'])('all are called for “%s”', async (text) => {
  const { calls } = await ask({ items: [user(text)], tools: [weather, time] });
  expect(calls.map(({ name, callId }) => [name, callId])).toEqual([
    ['get_weather', 'call_1'],
    ['get_time', 'call_2'],
  ]);
});

test('only one is called if parallel calls are disabled', async () => {
  const { calls } = await ask({
    items: [user('Call both in parallel')],
    tools: [weather, time],
    parallelToolCalls: false,
  });
  expect(calls).toHaveLength(1);
});

test('tool_choice decides: none, one function, a list of allowed ones', async () => {
  const request = { items: [user('Go')], tools: [weather, time] };
  const none = await ask({ ...request, toolChoice: { mode: 'none' } });
  expect([none.calls, none.text]).toEqual([[], expect.stringContaining('Go')]);
  const one = await ask({ ...request, toolChoice: { mode: 'function', name: 'get_time' } });
  expect(one.calls.map(({ name }) => name)).toEqual(['get_time']);
  const allowed: ToolChoice = { mode: 'allowed', names: ['get_time'], required: true };
  const limited = await ask({ ...request, items: [user('Call both')], toolChoice: allowed });
  expect(limited.calls.map(({ name }) => name)).toEqual(['get_time']);
});

test('a choice of a function that is not offered is the caller’s fault', async () => {
  const toolChoice = { mode: 'function', name: 'other' } as const;
  await expect(ask({ items: [user('Go')], tools: [weather], toolChoice })).rejects.toMatchObject({
    kind: 'caller',
    details: { param: 'tool_choice' },
  });
});

test('results end the round: they are named and quoted', async () => {
  const { calls, text } = await ask({
    items: [
      user('Weather and time?'),
      called('get_weather', 'a'),
      called('get_time', 'b'),
      result('18 °C and sunny', 'a'),
      result('', 'b'),
    ],
    tools: [weather, time],
    toolChoice: { mode: 'required' },
  });
  expect(calls).toEqual([]);
  expect(text).toContain('The tool get_weather answered: “18 °C and sunny”.');
  expect(text).toContain('The tool get_time answered nothing.');
});

test('a new message after a result starts a new round', async () => {
  const { calls } = await ask({
    items: [user('a'), called('get_time'), result('12:00'), said('Noon'), user('And in Rome?')],
    tools: [weather],
  });
  expect(calls[0]?.arguments).toBe('{"city":"Rome"}');
});

test('a tool without parameters gets an empty object', async () => {
  const { calls } = await ask({ items: [user('Go')], tools: [tool('ping')] });
  expect(calls[0]?.arguments).toBe('{}');
});

test('unknown kinds of tools are ignored', async () => {
  const { text } = await ask({
    items: [user('Go')],
    tools: [{ type: 'opaque', json: { type: 'web_search' } }],
  });
  expect(text).toContain('You said: “Go”.');
});
