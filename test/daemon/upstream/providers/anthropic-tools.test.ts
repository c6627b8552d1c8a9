import { describe, expect, test } from 'vitest';
import type { Inference } from '../../../../src/daemon/features/inference/neutral.ts';
import type { UpstreamCall } from '../../../../src/daemon/features/inference/upstream.ts';
import { anthropicAdapter } from '../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { functionTool, upstreamCall } from '../../../support/upstream-call.ts';

type Body = Record<string, unknown> & {
  messages: { role: string; content: Record<string, unknown>[] }[];
  tools?: Record<string, unknown>[];
};

const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });
const bodyOf = (call: UpstreamCall): Body => JSON.parse(adapter.request(call).body) as Body;
const bodyFor = (model: string, inference: Partial<Inference> = {}, call: Partial<UpstreamCall> = {}): Body =>
  bodyOf(upstreamCall(model, inference, call));
const text = (words: string) => ({ type: 'text', text: words });

describe('tools', () => {
  const tools = [
    functionTool('look', { type: 'object', properties: { x: { type: 'number' } } }),
    functionTool('find'),
  ];
  const toolsFor = (inference: Partial<Inference>, model = 'claude-sonnet-4-6') => {
    const body = bodyFor(model, { tools, ...inference });
    return { names: body.tools?.map(({ name }) => name), choice: body.tool_choice, system: body.system };
  };

  test('are declared with their schema; one without parameters takes an empty object', () => {
    expect(bodyFor('claude-sonnet-4-6', { tools }).tools).toEqual([
      {
        name: 'look',
        description: 'Does look.',
        input_schema: { type: 'object', properties: { x: { type: 'number' } } },
      },
      { name: 'find', description: 'Does find.', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  test('of kinds that only other providers know are left out', () => {
    const opaque = { type: 'opaque', json: { type: 'web_search' } } as const;
    expect(bodyFor('claude-sonnet-4-6', { tools: [opaque] })).not.toHaveProperty('tools');
  });

  test.each<[string, Partial<Inference>, unknown, unknown]>([
    ['nothing asked', {}, ['look', 'find'], undefined],
    ['auto', { toolChoice: { mode: 'auto' } }, ['look', 'find'], { type: 'auto' }],
    ['none', { toolChoice: { mode: 'none' } }, ['look', 'find'], { type: 'none' }],
    ['required', { toolChoice: { mode: 'required' } }, ['look', 'find'], { type: 'any' }],
    [
      'one by name',
      { toolChoice: { mode: 'function', name: 'find' } },
      ['look', 'find'],
      { type: 'tool', name: 'find' },
    ],
    [
      'some allowed',
      { toolChoice: { mode: 'allowed', names: ['find'], required: false } },
      ['find'],
      { type: 'auto' },
    ],
    [
      'some allowed and required',
      { toolChoice: { mode: 'allowed', names: ['find'], required: true } },
      ['find'],
      { type: 'any' },
    ],
    [
      'one at a time',
      { parallelToolCalls: false },
      ['look', 'find'],
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [
      'one, and no more',
      { parallelToolCalls: false, toolChoice: { mode: 'required' } },
      ['look', 'find'],
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [
      'none, one at a time',
      { parallelToolCalls: false, toolChoice: { mode: 'none' } },
      ['look', 'find'],
      { type: 'none' },
    ],
  ])('are chosen as asked: %s', (_what, inference, names, choice) => {
    expect(toolsFor(inference)).toMatchObject({ names, choice });
  });

  test('that cannot be forced are asked for in words, and no others are offered', () => {
    const asked = toolsFor({ toolChoice: { mode: 'function', name: 'find' } }, 'claude-opus-5-5');
    expect(asked).toMatchObject({ names: ['find'], choice: { type: 'auto' } });
    expect(asked.system).toHaveLength(1);
  });

  test('with alternatives at the root of their schema become one object', () => {
    const branch = (name: string) => ({
      properties: { kind: { const: name }, [name]: { type: 'string' } },
      required: ['kind', name],
    });
    const schema = { $schema: 'x', anyOf: [branch('a'), branch('b')] };
    const [tool] = bodyFor('claude-sonnet-4-6', { tools: [functionTool('look', schema)] }).tools ?? [];
    expect(tool?.input_schema).toMatchObject({ type: 'object', required: ['kind'] });
    expect(tool).toHaveProperty('input_schema.properties.a');
    expect(tool).toHaveProperty('input_schema.properties.b');
    expect(tool?.input_schema).not.toHaveProperty('anyOf');
  });

  test('are strict only where the model can hold to it', () => {
    const schema = { type: 'object', properties: { x: { type: 'number', minimum: 1 } }, required: ['x'] };
    const strict = [functionTool('look', schema, true)];
    expect(bodyFor('claude-sonnet-4-6', { tools: strict }).tools?.[0]).toMatchObject({
      strict: true,
      input_schema: { additionalProperties: false },
    });
    expect(bodyFor('claude-sonnet-4-20250514', { tools: strict }).tools?.[0]).not.toHaveProperty('strict');
    const free = [functionTool('look', { type: 'object', properties: { x: { type: 'object' } } }, true)];
    expect(bodyFor('claude-sonnet-4-6', { tools: free }).tools?.[0]).not.toHaveProperty('strict');
  });
});

describe('a structured answer', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, description: 'Years.' },
      tags: {
        type: 'array',
        items: { oneOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
        minItems: 2,
      },
    },
    required: ['age'],
  };
  const format = {
    type: 'json_schema',
    name: 'person',
    description: undefined,
    schema,
    strict: true,
  } as const;

  test('is bound to its schema, in the form that the API enforces', () => {
    expect(bodyFor('claude-sonnet-4-6', { format }).output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            age: { type: 'integer', description: 'Years. (minimum: 0)' },
            tags: {
              type: 'array',
              items: { anyOf: [{ type: 'string', description: '(maxLength: 9)' }, { type: 'null' }] },
              minItems: 1,
              description: '(minItems: 2)',
            },
          },
          required: ['age'],
          additionalProperties: false,
        },
      },
    });
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['models without that', 'claude-3-5-haiku-20241022', schema],
    ['open objects', 'claude-sonnet-4-6', { type: 'object', additionalProperties: { type: 'number' } }],
    [
      'schemas within themselves',
      'claude-sonnet-4-6',
      {
        type: 'object',
        properties: { root: { $ref: '#/$defs/node' } },
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      },
    ],
  ])('is asked for in words: %s', (_what, model, asked) => {
    const body = bodyFor(model, { format: { ...format, schema: asked } });
    expect(body.output_config).toBeUndefined();
    expect(JSON.stringify(body.system)).toContain('JSON Schema');
    expect((body.system as { text: string }[])[0]?.text).toContain(JSON.stringify(asked));
  });

  test('is read quickly, however its parts refer to each other', () => {
    const names = Array.from({ length: 30 }, (_, at) => `n${at}`);
    const twice = (to: string) => ({ type: 'object', properties: { a: { $ref: to }, b: { $ref: to } } });
    const $defs: Record<string, unknown> = { last: { type: 'string' } };
    names.forEach((name, at) => {
      $defs[name] = twice(`#/$defs/${names[at + 1] ?? 'last'}`);
    });
    const body = bodyFor('claude-sonnet-4-6', {
      format: { ...format, schema: { ...twice('#/$defs/n0'), $defs } },
    });
    expect(body.output_config).toBeDefined();
  });

  test('of any shape is asked for in words', () => {
    const body = bodyFor('claude-sonnet-4-6', { format: { type: 'json_object' } });
    expect(body.output_config).toBeUndefined();
    expect(body.system).toEqual([text('Answer with one JSON object and nothing else.')]);
  });
});
