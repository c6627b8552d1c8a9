import { describe, expect, test } from 'vitest';
import type { ContentPart, Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { googleAdapter } from '../../../../../src/daemon/upstream/providers/google/index.ts';
import { user } from '../../../../support/inference.ts';
import { answered, assistant, called, upstreamCall } from '../../../../support/upstream-call.ts';

type Item = Inference['items'][number];
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
const contentsFor = (items: Item[], model = 'gemini-2.5-flash') => bodyFor(model, { items }).contents;
const system = (text: string): Item => ({
  type: 'message',
  role: 'system',
  content: [{ type: 'text', text }],
});

describe('contents', () => {
  test('have alternating roles, with the system instruction apart', () => {
    const items = [system('Be kind.'), user('a'), user('b'), assistant('c'), system('Be brief.'), user('d')];
    const body = bodyFor('gemini-2.5-flash', { instructions: 'You are a clerk.', items });
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'You are a clerk.' }, { text: 'Be kind.' }] });
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }] },
      { role: 'user', parts: [{ text: 'Be brief.' }, { text: 'd' }] },
    ]);
  });

  test('start and end with the user', () => {
    const roles = contentsFor([assistant('Hello'), user('Hi'), assistant('Yes?')]).map(({ role }) => role);
    expect(roles).toEqual(['user', 'model', 'user', 'model', 'user']);
  });

  test('have as many responses as calls, each with the function’s name and an object', () => {
    const items = [
      user('Both.'),
      called('a', 'look', '{"x":1}'),
      called('b', 'find'),
      answered('b', '{"$ref": "#/x"}'),
      answered('a', ''),
      user('And?'),
    ];
    expect(contentsFor(items).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'look', args: { x: 1 } } },
          { functionCall: { id: 'b', name: 'find', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'look', response: { output: '' } } },
          { functionResponse: { id: 'b', name: 'find', response: { output: '{"$ref": "#/x"}' } } },
        ],
      },
      // Nothing else is accepted beside responses: vellum-ai/vellum-assistant#39495
      { role: 'user', parts: [{ text: 'And?' }] },
    ]);
  });

  test('have images of a result after all responses', () => {
    const output: ContentPart[] = [
      { type: 'text', text: 'Here.' },
      { type: 'image', url: 'data:image/png;base64,iVBORw0=' },
    ];
    const items: Item[] = [
      user('x'),
      called('a', 'shoot'),
      called('b', 'look'),
      { type: 'function_call_output', callId: 'a', output },
      answered('b', 'B'),
    ];
    expect(
      contentsFor(items)
        .slice(-2)
        .map(({ parts }) => parts),
    ).toMatchObject([
      [
        { functionResponse: { name: 'shoot', response: { output: 'Here.' } } },
        { functionResponse: { name: 'look' } },
      ],
      [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } }],
    ]);
  });

  test.each<[string, ContentPart, unknown]>([
    [
      'an image elsewhere',
      { type: 'image', url: 'https://example.com/a.webp?x=1' },
      { fileData: { fileUri: 'https://example.com/a.webp?x=1', mimeType: 'image/webp' } },
    ],
    [
      'a file',
      { type: 'file', filename: 'a.pdf', data: 'JVBERi0x' },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0x' } },
    ],
    [
      'a file elsewhere',
      { type: 'file', url: 'https://example.com/a.txt' },
      { fileData: { fileUri: 'https://example.com/a.txt', mimeType: 'text/plain' } },
    ],
    [
      'a sound',
      { type: 'audio', data: 'UklGRg==', format: 'wav' },
      { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    ],
  ])('contain %s', (_what, part, sent) => {
    expect(contentsFor([{ type: 'message', role: 'user', content: [part] }])[0]?.parts[0]).toEqual(sent);
  });

  test('have a message for an output without a call, and a response for each call', () => {
    const parts = contentsFor([user('x'), answered('nowhere', 'A'), called('a', 'look')]).map(
      (content) => content.parts,
    );
    expect(parts).toMatchObject([
      [{ text: 'x' }, { text: 'Output of a tool:' }, { text: 'A' }],
      [{ functionCall: { id: 'a' } }],
      [{ functionResponse: { id: 'a', response: { error: expect.stringContaining('interrupted') } } }],
    ]);
  });
});

describe('thought signatures', () => {
  const model = 'gemini-3-flash-preview';
  const skip = 'skip_thought_signature_validator';
  const thought = (payload: unknown, from = { provider: 'google', model }): Item => ({
    type: 'reasoning',
    summary: ['What they read.'],
    origin: { ...from, payload },
  });
  const partsFor = (items: Item[], name = model) => contentsFor([user('Hi'), ...items], name)[1]?.parts;
  const answers = [answered('a', 'A'), answered('b', 'B')];

  test('are sent back on the call and the last text that they belong to', () => {
    const items = [
      assistant('Looking.'),
      thought({ text: 'of text' }),
      thought({ calls: { a: 'of a' } }),
      called('a', 'look'),
      called('b', 'look'),
      ...answers,
    ];
    expect(partsFor(items)).toEqual([
      { text: 'Looking.', thoughtSignature: 'of text' },
      { functionCall: { id: 'a', name: 'look', args: {} }, thoughtSignature: 'of a' },
      { functionCall: { id: 'b', name: 'look', args: {} } },
    ]);
  });

  test('find their parts if a client moves all thoughts to the front', () => {
    const items = [
      thought({ calls: { a: 'of a' } }),
      thought({ text: 'of text' }),
      assistant('Looking.'),
      called('a', 'look'),
      answered('a', 'A'),
    ];
    expect(partsFor(items)?.map((part) => part.thoughtSignature)).toEqual(['of text', 'of a']);
  });

  test.each<[string, Item[]]>([
    ['missing', []],
    ['another provider’s', [thought({ calls: { a: 'of a' } }, { provider: 'other', model })]],
    [
      'another model’s',
      [thought({ calls: { a: 'of a' } }, { provider: 'google', model: 'gemini-3.5-flash' })],
    ],
    ['damaged', [thought({ calls: { a: 1 } })]],
  ])('that are %s are replaced by the skip signature on the first call of a turn', (_whose, items) => {
    const parts = partsFor([...items, called('a', 'look'), called('b', 'look'), ...answers]);
    expect(parts?.map((part) => part.thoughtSignature)).toEqual([skip, undefined]);
  });

  test('are not added for models that need none', () => {
    const parts = partsFor([called('a', 'look'), answered('a', 'A')], 'gemini-2.5-flash');
    expect(parts?.[0]).not.toHaveProperty('thoughtSignature');
  });

  test('are all that is sent back of thoughts', () => {
    expect(JSON.stringify(partsFor([thought({ text: 'sig' }), assistant('Hello')]))).not.toContain(
      'What they read',
    );
  });
});
