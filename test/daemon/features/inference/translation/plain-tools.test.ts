import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withPlainTools } from '../../../../../src/daemon/features/inference/translation/plain-tools.ts';
import type { Batch, InferenceEvent, Tool } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamAnswer } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { inferenceOf } from '../../../../support/inference.ts';

type Named = { name: string; namespace?: string };

const toolOf = (named: Named): Tool => ({
  type: 'function',
  ...named,
  description: undefined,
  parameters: undefined,
  strict: undefined,
});

function plainOf(tools: readonly Named[], details = {}) {
  const plain = withPlainTools(inferenceOf({ tools: tools.map(toolOf), ...details }));
  if (plain === undefined) throw new Error('the tools are plain already');
  return plain;
}

const namesOf = (tools: readonly Named[]) =>
  plainOf(tools).inference.tools.map((tool) => (tool.type === 'function' ? tool.name : ''));

async function restoredFrom(plain: ReturnType<typeof plainOf>, events: InferenceEvent[]) {
  async function* batches(): AsyncGenerator<Batch> {
    for (const event of events) yield { events: [event], frames: undefined };
  }
  const answer: UpstreamAnswer = plain.restore({ kind: 'stream', batches: batches() });
  const restored: InferenceEvent[] = [];
  if (answer.kind === 'stream') for await (const batch of answer.batches) restored.push(...batch.events);
  return restored;
}

const started = (name: string): InferenceEvent => ({
  type: 'item-started',
  index: 0,
  item: { kind: 'function_call', callId: 'call_1', name },
});

describe('the name of a tool in a namespace', () => {
  test.each([
    ['mcp__weather', 'lookup', 'mcp__weather__lookup'],
    ['1st', 'look-up', '_1st__look-up'],
    ['my.server/x', 'run', 'my_server_x__run'],
  ])('%s, %s is %s', (namespace, name, plain) => {
    expect(namesOf([{ name, namespace }])).toEqual([plain]);
  });

  test('differs from all others, is short enough for every provider, and leads back', async () => {
    const text = fc.stringMatching(/^[a-zA-Z0-9_-]{1,90}$/);
    const namespaced = fc.record({ name: text, namespace: fc.oneof(text, fc.string({ minLength: 1 })) });
    const plainly = fc.record({ name: fc.stringMatching(/^[a-z_]{1,64}$/) });
    const tools = fc.uniqueArray(fc.oneof(namespaced, plainly), {
      minLength: 1,
      selector: (tool) => JSON.stringify([tool.name, 'namespace' in tool ? tool.namespace : null]),
    });
    await fc.assert(
      fc.asyncProperty(tools, async (some: Named[]) => {
        const all: Named[] = [...some, { name: 'f', namespace: 'n' }];
        const names = namesOf(all);
        expect(new Set(names.map((name, at) => (all[at]?.namespace ? name : `plain ${name}`))).size).toBe(
          new Set(all.map((tool) => JSON.stringify([tool.namespace, tool.name]))).size,
        );
        for (const [at, name] of names.entries()) {
          if (all[at]?.namespace === undefined) expect(name).toBe(all[at]?.name);
          else expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
          const [event] = await restoredFrom(plainOf(all), [started(name)]);
          expect(event).toMatchObject({ item: all[at] });
        }
      }),
      { numRuns: 50 },
    );
  });

  test('does not take that of a plain tool', async () => {
    const tools = [{ name: 'look', namespace: 'mcp' }, { name: 'mcp__look' }];
    const [first = '', second] = namesOf(tools);
    expect(second).toBe('mcp__look');
    expect(first).toMatch(/^mcp__look_[0-9a-f]{8}$/);
    const [event] = await restoredFrom(plainOf(tools), [started(first)]);
    expect(event).toMatchObject({ item: { name: 'look', namespace: 'mcp' } });
  });
});

const weather = { name: 'lookup', namespace: 'mcp__weather' };

test('a choice of tools and earlier calls use the same names', () => {
  const call = { type: 'function_call', callId: 'call_1', ...weather, arguments: '{}' } as const;
  const { inference } = plainOf([weather], {
    toolChoice: { mode: 'function', ...weather },
    items: [call, { ...call, name: 'gone', namespace: 'mcp__gone' }],
  });
  expect(inference.toolChoice).toEqual({ mode: 'function', name: 'mcp__weather__lookup' });
  expect(inference.items).toEqual([
    { type: 'function_call', callId: 'call_1', name: 'mcp__weather__lookup', arguments: '{}' },
    { type: 'function_call', callId: 'call_1', name: 'mcp__gone__gone', arguments: '{}' },
  ]);
  const allowed = { mode: 'allowed', names: ['mcp__weather.lookup'], required: true };
  expect(plainOf([weather], { toolChoice: allowed }).inference.toolChoice).toEqual({
    ...allowed,
    names: ['mcp__weather__lookup'],
  });
});

test('the description of a namespace becomes an instruction', () => {
  const { inference } = plainOf([weather], {
    instructions: 'Be kind.',
    namespaces: { mcp__weather: 'Ask about one city at a time.', mcp__unused: 'Nothing.' },
  });
  expect(inference.instructions).toBe(
    'Be kind.\n\nTools named mcp__weather__…: Ask about one city at a time.',
  );
});

describe('a custom tool', () => {
  const patch: Tool = {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files.',
    grammar: { syntax: 'lark', definition: 'start: "*** Begin"' },
  };

  test('becomes a function with one text, whose description has the grammar', () => {
    const [tool] = plainOf([], { tools: [patch] }).inference.tools;
    expect(tool).toMatchObject({
      type: 'function',
      name: 'apply_patch',
      parameters: { required: ['input'], properties: { input: { type: 'string' } } },
    });
    expect(tool).toMatchObject({
      description: expect.stringMatching(/^Edits files\.[\s\S]*lark[\s\S]*start: "\*\*\* Begin"$/),
    });
  });

  test('is called with its text, piece by piece', async () => {
    const plain = plainOf([], { tools: [patch] });
    const args = JSON.stringify({ input: '*** Begin\n' });
    const events = await restoredFrom(plain, [
      started('apply_patch'),
      { type: 'arguments', index: 0, delta: args.slice(0, 15) },
      { type: 'arguments', index: 0, delta: args.slice(15) },
      { type: 'item-done', index: 0 },
    ]);
    expect(events).toEqual([
      {
        type: 'item-started',
        index: 0,
        item: { kind: 'function_call', callId: 'call_1', name: 'apply_patch', custom: true },
      },
      { type: 'arguments', index: 0, delta: '*** B' },
      { type: 'arguments', index: 0, delta: 'egin\n' },
      { type: 'item-done', index: 0 },
    ]);
  });

  test('keeps its earlier calls and their outputs', () => {
    const output = [{ type: 'text' as const, text: 'Done.' }];
    const { inference } = plainOf([], {
      items: [
        { type: 'function_call', callId: 'c', name: 'apply_patch', arguments: '*** "B"', custom: true },
        { type: 'function_call_output', callId: 'c', output, custom: true },
      ],
    });
    expect(inference.items).toEqual([
      { type: 'function_call', callId: 'c', name: 'apply_patch', arguments: '{"input":"*** \\"B\\""}' },
      { type: 'function_call_output', callId: 'c', output },
    ]);
  });
});

test('a call that a provider made to an MCP server becomes a call and its output', () => {
  const json = { type: 'mcp_call', id: 'mcp_1', server_label: 'wiki', name: 'ask', arguments: '{"q":1}' };
  const of = (more: object) =>
    plainOf([], { items: [{ type: 'opaque', json: { ...json, ...more } }] }).inference.items;
  const call = { type: 'function_call', callId: 'mcp_1', name: 'wiki__ask', arguments: '{"q":1}' };
  const output = (text: string) => ({
    type: 'function_call_output',
    callId: 'mcp_1',
    output: [{ type: 'text', text }],
  });
  expect(of({ output: 'Yes.' })).toEqual([call, output('Yes.')]);
  expect(of({ error: { code: 5 } })).toEqual([call, output('{"code":5}')]);
  expect(of({ id: 'x'.repeat(70) })[0]).toMatchObject({ callId: 'mcp_0' });
});

test('plain tools need nothing', () => {
  expect(withPlainTools(inferenceOf({ tools: [toolOf({ name: 'f' })] }))).toBeUndefined();
});
