import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { simulatorModels } from '../../../../src/daemon/upstream/simulator/models.ts';
import { user } from '../../../support/inference.ts';
import { called, getAnswer, result, scripted, startSimulator, tool } from './drive.ts';

const guide = await readFile('docs/simulator.md', 'utf8');
const scripts = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml ?? '');
const scriptWith = (words: string) => scripted(scripts.find((yaml) => yaml.includes(words)) ?? words);

test('every script in the guide is valid', () => {
  expect(scripts.length).toBeGreaterThan(5);
  for (const yaml of scripts) expect(() => scripted(yaml), yaml).not.toThrow();
});

test('the guide lists every model', () => {
  const listed = [...guide.matchAll(/^\| `(sim\/\w+)` \|/gm)].map(([, id]) => id);
  expect(listed).toEqual(simulatorModels.map(({ id }) => id));
});

test('the first answer is the one in the guide', async () => {
  const { text } = await getAnswer(startSimulator(), { items: [user('Is it raining?')] });
  expect(guide).toContain(`\`${text}\``);
});

test('the first script only answers about the weather', async () => {
  const upstream = scriptWith('I can only tell the weather.');
  const asked = user('What is the weather?');
  const { calls } = await getAnswer(upstream, { items: [asked], tools: [tool('get_weather')] });
  expect(calls).toMatchObject([{ name: 'get_weather', arguments: '{"city":"Paris"}' }]);
  const answered = await getAnswer(upstream, { items: [asked, called('get_weather'), result('18 °C')] });
  expect(answered.text).toBe('It is 18 degrees in Paris.');
  expect((await getAnswer(upstream, { items: [user('Time?')] })).text).toBe('I can only tell the weather.');
});

test('the agent of the recipe recovers from broken JSON', async () => {
  const upstream = scriptWith('"gate');
  const tools = [tool('search')];
  const first = await getAnswer(upstream, { items: [user('Find gateways')], tools });
  expect(() => JSON.parse(first.calls[0]?.arguments ?? '')).toThrow();
  const items = [user('Find gateways'), called('search'), result('Error: not JSON')];
  const second = await getAnswer(upstream, { items, tools });
  expect(second.calls[0]?.arguments).toBe('{"query":"gateways"}');
  const third = await getAnswer(upstream, {
    items: [...items, called('search', 'b'), result('3 of them', 'b')],
    tools,
  });
  expect(third.text).toBe('Found: 3 of them');
});

test('the bot of the recipe knows the requested order', async () => {
  const upstream = scriptWith('sim/support');
  const received = await getAnswer(upstream, {
    model: 'sim/support',
    items: [user('Where is order ORD-7788?')],
  });
  expect(received).toMatchObject({
    text: 'Order ORD-7788 is on its way.',
    summary: ['The user asks where an order is.'],
  });
});
