import { describe, expect, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { googleAdapter } from '../../../../../src/daemon/upstream/providers/google/index.ts';
import { functionTool, upstreamCall } from '../../../../support/upstream-call.ts';

interface Body extends Record<string, unknown> {
  contents: { role: string; parts: Record<string, unknown>[] }[];
  generationConfig: Record<string, unknown>;
}

const adapter = googleAdapter(
  { name: 'google', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' },
  { makeCallId: () => 'call_x' },
);
const bodyFor = (model: string, inference: Partial<Inference> = {}, call: Partial<UpstreamCall> = {}): Body =>
  JSON.parse(adapter.request(upstreamCall(model, inference, call)).body) as Body;

describe('a request', () => {
  test('streams from the model, without a key in the URL', () => {
    const { url, headers } = adapter.request(upstreamCall('gemini-3.5-flash'));
    expect(url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
    );
    expect(headers['x-goog-api-key']).toBe('key-for-tests');
  });

  test.each([
    ['tunedModels/mine', '/tunedModels/mine:stream'],
    ['models/gemini-2.5-pro', '/models/gemini-2.5-pro:stream'],
    ['odd/../name?', '/models/odd%2F..%2Fname%3F:stream'],
  ])('escapes the model name %s', (model, path) => {
    expect(adapter.request(upstreamCall(model)).url).toContain(path);
  });
});

describe('functions', () => {
  const tools = [
    functionTool('look', { $schema: 'x', type: 'object', properties: { x: { const: 1 } } }),
    functionTool('find'),
  ];
  const configFor = (inference: Partial<Inference>) => {
    const body = bodyFor('gemini-3.5-flash', { tools, ...inference });
    const [declared] = (body.tools ?? []) as { functionDeclarations: Record<string, unknown>[] }[];
    return {
      names: declared?.functionDeclarations.map(({ name }) => name),
      calling: (body.toolConfig as Record<string, unknown> | undefined)?.functionCallingConfig,
    };
  };

  test('are declared with JSON Schema, or without any', () => {
    expect(bodyFor('gemini-3.5-flash', { tools }).tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'look',
            description: 'Does look.',
            parametersJsonSchema: { type: 'object', properties: { x: { const: 1 } } },
          },
          { name: 'find', description: 'Does find.' },
        ],
      },
    ]);
  });

  test.each([
    [{}, undefined],
    [{ type: 'object', additionalProperties: false }, undefined],
    [{ properties: { x: {} } }, { type: 'object', properties: { x: {} } }],
    [
      { type: 'object', additionalProperties: true },
      { type: 'object', properties: {}, additionalProperties: true },
    ],
  ])('with the parameters %j get %j', (parameters, schema) => {
    const body = bodyFor('gemini-3.5-flash', { tools: [functionTool('look', parameters)] });
    const [declared] = body.tools as { functionDeclarations: Record<string, unknown>[] }[];
    expect(declared?.functionDeclarations[0]?.parametersJsonSchema).toEqual(schema);
  });

  test.each<[string, Partial<Inference>, unknown, unknown]>([
    ['nothing asked', {}, ['look', 'find'], undefined],
    ['none', { toolChoice: { mode: 'none' } }, ['look', 'find'], { mode: 'NONE' }],
    ['required', { toolChoice: { mode: 'required' } }, ['look', 'find'], { mode: 'ANY' }],
    [
      'one by name',
      { toolChoice: { mode: 'function', name: 'find' } },
      ['look', 'find'],
      { mode: 'ANY', allowedFunctionNames: ['find'] },
    ],
    [
      'some allowed',
      { toolChoice: { mode: 'allowed', names: ['find'], required: false } },
      ['find'],
      undefined,
    ],
    [
      'some allowed and required',
      { toolChoice: { mode: 'allowed', names: ['find'], required: true } },
      ['find'],
      { mode: 'ANY' },
    ],
  ])('are chosen as requested: %s', (_what, inference, names, calling) => {
    expect(configFor(inference)).toEqual({ names, calling });
  });

  test('one at a time are requested in the prompt', () => {
    const body = bodyFor('gemini-3.5-flash', { tools, parallelToolCalls: false });
    expect((body.systemInstruction as { parts: unknown[] }).parts).toHaveLength(1);
  });
});

describe('a structured answer', () => {
  const schema = { $schema: 'x', type: 'object', properties: { age: { type: 'integer' } } };
  const format = {
    type: 'json_schema',
    name: 'person',
    description: undefined,
    schema,
    strict: true,
  } as const;
  const tools = [functionTool('look')];

  test('is enforced by its JSON Schema', () => {
    expect(bodyFor('gemini-2.5-flash', { format }).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { age: { type: 'integer' } } },
    });
    expect(bodyFor('gemini-3.5-flash', { format, tools }).generationConfig).toHaveProperty(
      'responseJsonSchema',
    );
  });

  test('together with functions is requested in the prompt if the model cannot do both', () => {
    const body = bodyFor('gemini-2.5-flash', { format, tools });
    expect(body.generationConfig).toEqual({});
    expect(JSON.stringify(body.systemInstruction)).toContain('JSON Schema');
  });

  test('is not requested if a call is forced', () => {
    const body = bodyFor('gemini-3.5-flash', { format, tools, toolChoice: { mode: 'required' } });
    expect(body.generationConfig).toEqual({});
  });

  test('may have any shape', () => {
    const { generationConfig } = bodyFor('gemini-2.5-flash', { format: { type: 'json_object' } });
    expect(generationConfig).toEqual({ responseMimeType: 'application/json' });
  });
});

describe('settings', () => {
  test.each<[string, string, string | undefined, unknown]>([
    ['gemini-2.5-flash', 'none', undefined, { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', 'auto', { thinkingBudget: 128 }],
    ['gemini-2.5-flash', 'high', 'auto', { includeThoughts: true, thinkingBudget: 24_576 }],
    ['gemini-2.5-pro', 'max', undefined, { thinkingBudget: 32_768 }],
    ['gemini-3-flash-preview', 'none', undefined, { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.8-flash', 'minimal', undefined, { thinkingLevel: 'LOW' }],
    ['gemini-3.1-pro-preview', 'medium', 'auto', { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
    ['gemini-3-pro-preview', 'medium', undefined, { thinkingLevel: 'HIGH' }],
    ['gemini-4-argon', 'xhigh', undefined, { thinkingLevel: 'HIGH' }],
    ['gemini-2.0-flash', 'high', 'auto', undefined],
  ])('of %s at effort %s (summary %s)', (model, effort, summary, thinkingConfig) => {
    const { generationConfig } = bodyFor(model, { reasoning: { effort, summary } });
    expect(generationConfig.thinkingConfig).toEqual(thinkingConfig);
  });

  test.each(['gemini-2.5-flash', 'gemini-3-flash'])('of an unknown effort are left to %s', (model) => {
    for (const effort of ['constructor', '__proto__', 'odd'])
      expect(bodyFor(model, { reasoning: { effort, summary: undefined } }).generationConfig).toEqual({});
  });

  test('of a summary alone leave the effort to the model', () => {
    const reasoning = { effort: undefined, summary: 'auto' };
    expect(bodyFor('gemini-3.8-flash', { reasoning }).generationConfig.thinkingConfig).toEqual({
      includeThoughts: true,
    });
  });

  test.each<[string, unknown]>([
    [
      'gemini-2.0-flash',
      {
        temperature: 1,
        topP: 0.5,
        topK: 4,
        presencePenalty: 1,
        frequencyPenalty: 1,
        seed: 3,
        stopSequences: ['END'],
      },
    ],
    ['gemini-2.5-flash', { temperature: 1, topP: 0.5, topK: 4, seed: 3, stopSequences: ['END'] }],
    ['gemini-3.8-flash', { seed: 3, stopSequences: ['END'] }],
  ])('of sampling are sent to %s as far as supported', (model, sent) => {
    const sampling = {
      temperature: 1,
      topP: 0.5,
      topK: 4,
      presencePenalty: 1,
      frequencyPenalty: 1,
      seed: 3,
      stop: ['END'],
    };
    expect(bodyFor(model, { sampling }).generationConfig).toEqual(sent);
  });

  test('limit the output to what the budget allows', () => {
    const body = bodyFor('gemini-3.5-flash', { outputTokensMax: 900 }, { outputTokensMax: 100 });
    expect(body.generationConfig.maxOutputTokens).toBe(100);
    expect(bodyFor('gemini-3.5-flash').generationConfig).not.toHaveProperty('maxOutputTokens');
  });

  test('of several answers are refused', () => {
    expect(() => bodyFor('gemini-3.5-flash', { body: { n: 2 } })).toThrow(
      expect.objectContaining({ kind: 'caller' }),
    );
  });
});

test('log probabilities are requested only for callers that need them, as most models refuse them', () => {
  const configOf = (sampling: Inference['sampling']) =>
    bodyFor('gemini-2.5-flash', { sampling }).generationConfig;
  expect(configOf({ topLogprobs: 20 })).not.toHaveProperty('responseLogprobs');
  expect(configOf({ topLogprobs: 20, needsLogprobs: true })).toMatchObject({
    responseLogprobs: true,
    logprobs: 20,
  });
});
