import { describe, expect, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { functionTool, upstreamCall } from '../../../../support/upstream-call.ts';

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

  test('are declared with their schema; one without parameters gets an empty object', () => {
    expect(bodyFor('claude-sonnet-4-6', { tools }).tools).toEqual([
      {
        name: 'look',
        description: 'Does look.',
        input_schema: { type: 'object', properties: { x: { type: 'number' } } },
      },
      { name: 'find', description: 'Does find.', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  test('of unknown kinds are dropped', () => {
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
  ])('are chosen as requested: %s', (_what, inference, names, choice) => {
    expect(toolsFor(inference)).toMatchObject({ names, choice });
  });

  test('that cannot be forced are requested in the prompt, and no others are offered', () => {
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

  test('in older drafts of JSON Schema are upgraded', () => {
    const pair = { type: 'array', items: [{ type: 'number' }, { type: 'string' }], additionalItems: false };
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        items: { $schema: 'x', ...pair },
        age: { type: 'number', minimum: 0, exclusiveMinimum: true, required: true },
        share: { type: 'number', maximum: 1, exclusiveMaximum: false },
        free: { type: 'array', items: [{ enum: [1, 2] }] },
      },
      additionalProperties: { not: pair },
    };
    const before = structuredClone(parameters);
    const [tool] = bodyFor('claude-sonnet-4-6', { tools: [functionTool('look', parameters)] }).tools ?? [];
    const modern = { type: 'array', items: false, prefixItems: [{ type: 'number' }, { type: 'string' }] };
    expect(tool?.input_schema).toEqual({
      type: 'object',
      properties: {
        items: modern,
        age: { type: 'number', exclusiveMinimum: 0 },
        share: { type: 'number', maximum: 1 },
        free: { type: 'array', prefixItems: [{ enum: [1, 2] }] },
      },
      additionalProperties: { not: modern },
    });
    expect(parameters).toEqual(before);
  });

  describe('are strict up to the limits of one request', () => {
    const open = (count: number) => {
      const names = Array.from({ length: count }, (_, at) => `p${at}`);
      return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) };
    };
    const nullable = (count: number) => {
      const { properties } = open(count);
      for (const name in properties) properties[name] = { anyOf: [{ type: 'string' }, { type: 'null' }] };
      return { type: 'object', properties, required: Object.keys(properties) };
    };
    const strictOf = (...schemas: Record<string, unknown>[]) => {
      const tools = schemas.map((schema, at) => functionTool(`t${at}`, schema, true));
      return bodyFor('claude-sonnet-4-6', { tools }).tools?.map(({ strict }) => strict ?? false);
    };

    test.each<[string, Record<string, unknown>[], boolean[]]>([
      ['24 optional properties', [open(20), open(5), open(4)], [true, false, true]],
      ['16 properties of several types', [nullable(16), nullable(1), open(3)], [true, false, true]],
      [
        '20 tools',
        Array.from({ length: 21 }, () => nullable(0)),
        Array.from({ length: 21 }, (_, at) => at < 20),
      ],
    ])('%s', (_what, schemas, expected) => {
      expect(strictOf(...schemas)).toEqual(expected);
    });

    test('and the schema of the answer has priority', () => {
      const tools = [functionTool('look', open(20), true)];
      const asked = (schema: Record<string, unknown>) =>
        ({ type: 'json_schema', name: 'a', description: undefined, schema, strict: true }) as const;
      const both = bodyFor('claude-sonnet-4-6', { tools, format: asked(open(10)) });
      expect(both.output_config).toBeDefined();
      expect(both.tools?.[0]).not.toHaveProperty('strict');
      const tooMuch = bodyFor('claude-sonnet-4-6', { tools, format: asked(open(25)) });
      expect(tooMuch.output_config).toBeUndefined();
      expect(JSON.stringify(tooMuch.system)).toContain('JSON Schema');
      expect(tooMuch.tools?.[0]).toMatchObject({ strict: true });
    });
  });

  test('are strict only if the model supports it', () => {
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

  test('is enforced by its schema, in the form that the API accepts', () => {
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
    ['alternatives by condition', 'claude-sonnet-4-6', { ...schema, if: {}, else: { required: ['tags'] } }],
    ['values that are objects', 'claude-sonnet-4-6', { type: 'object', properties: { a: { enum: [{}] } } }],
    ['tuples', 'claude-sonnet-4-6', { type: 'object', properties: { a: { items: [{ type: 'null' }] } } }],
  ])('is requested in the prompt: %s', (_what, model, asked) => {
    const body = bodyFor(model, { format: { ...format, schema: asked } });
    expect(body.output_config).toBeUndefined();
    expect(JSON.stringify(body.system)).toContain('JSON Schema');
    expect((body.system as { text: string }[])[0]?.text).toContain(JSON.stringify(asked));
  });

  test('has formats and patterns that cannot be enforced in its description', () => {
    const properties = {
      day: { type: 'string', format: 'date', pattern: '^2' },
      path: { type: 'string', format: 'uri-reference' },
      name: { type: 'string', pattern: '^(?!x)\\bfoo' },
    };
    const asked = { type: 'object', properties, required: ['day', 'path', 'name'] };
    expect(
      bodyFor('claude-sonnet-4-6', { format: { ...format, schema: asked } }).output_config,
    ).toMatchObject({
      format: {
        schema: {
          properties: {
            day: properties.day,
            path: { type: 'string', description: '(format: "uri-reference")' },
            name: { type: 'string', description: `(pattern: ${JSON.stringify(properties.name.pattern)})` },
          },
        },
      },
    });
  });

  test('is read quickly, however its definitions refer to each other', () => {
    const names = Array.from({ length: 30 }, (_, at) => `n${at}`);
    const twice = (to: string) => ({
      type: 'object',
      properties: { a: { $ref: to }, b: { $ref: to } },
      required: ['a', 'b'],
    });
    const $defs: Record<string, unknown> = { last: { type: 'string' } };
    names.forEach((name, at) => {
      $defs[name] = twice(`#/$defs/${names[at + 1] ?? 'last'}`);
    });
    const body = bodyFor('claude-sonnet-4-6', {
      format: { ...format, schema: { ...twice('#/$defs/n0'), $defs } },
    });
    expect(body.output_config).toBeDefined();
  });

  test('of any shape is requested in the prompt', () => {
    const body = bodyFor('claude-sonnet-4-6', { format: { type: 'json_object' } });
    expect(body.output_config).toBeUndefined();
    expect(body.system).toEqual([text('Answer with one JSON object and nothing else.')]);
  });
});
