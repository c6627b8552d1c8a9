import { describe, expect, test } from 'vitest';
import type { ContentPart, Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { user } from '../../../../support/inference.ts';
import { answered, assistant, called, upstreamCall } from '../../../../support/upstream-call.ts';

type Body = Record<string, unknown> & {
  messages: { role: string; content: Record<string, unknown>[] }[];
  tools?: Record<string, unknown>[];
};
type Item = Inference['items'][number];

const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });
const bodyOf = (call: UpstreamCall): Body => JSON.parse(adapter.request(call).body) as Body;
const bodyFor = (model: string, inference: Partial<Inference> = {}, call: Partial<UpstreamCall> = {}): Body =>
  bodyOf(upstreamCall(model, inference, call));
const messagesFor = (items: Item[], model = 'claude-sonnet-4-5') => bodyFor(model, { items }).messages;
const system = (text: string, role: 'system' | 'developer' = 'system'): Item => ({
  type: 'message',
  role,
  content: [{ type: 'text', text }],
});
const says = (...content: ContentPart[]): Item => ({ type: 'message', role: 'user', content });
const text = (words: string) => ({ type: 'text', text: words });
const refused = (items: Item[]) => {
  expect(() => messagesFor(items)).toThrow(
    expect.objectContaining({
      kind: 'caller',
      details: expect.objectContaining({ code: 'unsupported_value' }),
    }),
  );
};

describe('messages', () => {
  test('of system and developer at the start become the system prompt, after the instructions', () => {
    const items = [system('Be kind.'), system('Be brief.', 'developer'), user('Hi')];
    const body = bodyFor('claude-sonnet-5', { instructions: 'You are a clerk.', items });
    expect(body.system).toEqual([text('You are a clerk.'), text('Be kind.'), text('Be brief.')]);
    expect(body.messages).toEqual([{ role: 'user', content: [text('Hi')] }]);
  });

  test('of system in the middle become the user’s', () => {
    expect(
      messagesFor([user('Hi'), assistant('Hello'), system('Speak French.'), user('Who are you?')]),
    ).toEqual([
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [text('Hello')] },
      { role: 'user', content: [text('Speak French.'), text('Who are you?')] },
    ]);
  });

  test('of one role are merged, and blank ones dropped', () => {
    const items = [
      user('a'),
      user(''),
      user('b'),
      assistant('c'),
      assistant(' \n'),
      assistant('d'),
      user('e'),
    ];
    expect(messagesFor(items)).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
      { role: 'user', content: [text('e')] },
    ]);
  });

  test('start with the user, even after system messages only', () => {
    expect(messagesFor([assistant('Hello'), user('Hi')])[0]?.role).toBe('user');
    expect(bodyFor('claude-sonnet-5', { items: [system('Say hello.')] })).toMatchObject({
      messages: [{ role: 'user', content: [text('Say hello.')] }],
    });
  });

  test('end with the user if the model supports no prefill, else without trailing white space', () => {
    const items = [user('Write a line.'), assistant('Once upon ')];
    expect(messagesFor(items, 'claude-opus-4-6').at(-1)?.role).toBe('user');
    expect(messagesFor(items, 'claude-opus-4-5').at(-1)).toEqual({
      role: 'assistant',
      content: [text('Once upon')],
    });
  });
});

describe('tool calls', () => {
  test('have their results in one message, first and in order, followed by text', () => {
    const items = [
      user('Both.'),
      called('a', 'look', '{"x":1}'),
      called('b', 'look'),
      user('Hurry!'),
      answered('b', 'B'),
      answered('a', 'A'),
    ];
    expect(messagesFor(items).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } },
          { type: 'tool_use', id: 'b', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [text('A')] },
          { type: 'tool_result', tool_use_id: 'b', content: [text('B')] },
          text('Hurry!'),
        ],
      },
    ]);
  });

  test('in sequence are separate turns, and a late result moves to its call', () => {
    const items = [
      user('Both.'),
      called('a', 'look'),
      called('b', 'look'),
      answered('a', 'A'),
      called('c', 'look'),
      answered('b', 'B'),
      answered('c', 'C'),
    ];
    const shape = messagesFor(items).map(({ content }) => content.map(({ id, tool_use_id: of }) => id ?? of));
    expect(shape.slice(1)).toEqual([['a', 'b'], ['a', 'b'], ['c'], ['c']]);
  });

  test('without output have no content, since empty text is refused', () => {
    const result = messagesFor([user('x'), called('a', 'look'), answered('a', '')]).at(-1)?.content[0];
    expect(result).toEqual({ type: 'tool_result', tool_use_id: 'a' });
  });

  test('keep images in their results', () => {
    const output: ContentPart[] = [{ type: 'image', url: 'data:image/png;base64,iVBORw0=' }];
    const items: Item[] = [
      user('x'),
      called('a', 'shoot'),
      { type: 'function_call_output', callId: 'a', output },
    ];
    expect(messagesFor(items).at(-1)?.content[0]).toMatchObject({
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } }],
    });
  });

  test('get valid, unique ids that their results share', () => {
    const items = [
      user('x'),
      called('call.1|fc:2', 'look'),
      answered('call.1|fc:2', 'A'),
      called('again', 'look'),
      answered('again', 'B'),
      called('again', 'look'),
      answered('again', 'C'),
    ];
    const blocks = messagesFor(items).flatMap(({ content }) => content);
    const ids = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
    const answers = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => id);
    expect(ids.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(3);
    expect(answers).toEqual(ids);
  });

  test('with arguments that are not an object still get one', () => {
    const inputOf = (args: string) =>
      messagesFor([user('x'), called('a', 'look', args), answered('a', 'A')])[1]?.content[0]?.input;
    expect(inputOf('[1]')).toEqual({ value: '[1]' });
    expect(inputOf('{"cut": ')).toEqual({ value: '{"cut": ' });
    expect(inputOf('')).toEqual({});
  });

  // AstrBotDevs/AstrBot#8349, openclaw/openclaw#10037: a shortened conversation
  test('that are gone: their outputs are messages', () => {
    const [message] = messagesFor([user('x'), answered('nowhere', 'A')]);
    expect(JSON.stringify(message)).toMatch(/x.*Output of a tool.*A/);
    expect(JSON.stringify(message)).not.toContain('tool_result');
  });

  // letta-ai/letta#3308, NousResearch/hermes-agent#53236: an interrupted tool
  test('without an output get one that says so', () => {
    const items = [user('x'), called('a', 'look'), called('b', 'look'), answered('b', 'B'), user('y')];
    expect(messagesFor(items)[2]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'a', is_error: true },
      { type: 'tool_result', tool_use_id: 'b', content: [{ text: 'B' }] },
      { type: 'text', text: 'y' },
    ]);
    expect(messagesFor(items.slice(0, 2)).at(-1)?.content).toMatchObject([{ type: 'tool_result' }]);
  });
});

describe('content', () => {
  const blockOf = (part: ContentPart) => messagesFor([says(part)])[0]?.content[0];

  test.each<[string, ContentPart, unknown]>([
    [
      'an image in the request',
      { type: 'image', url: 'data:image/jpeg;base64,/9j/4AA=' },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AA=' } },
    ],
    [
      'an image elsewhere',
      { type: 'image', url: 'https://example.com/a.png' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      'a PDF',
      { type: 'file', filename: 'a.pdf', data: 'data:application/pdf;base64,JVBERi0x' },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' },
        title: 'a.pdf',
      },
    ],
    [
      'a PDF that is only recognised by its bytes',
      { type: 'file', data: 'JVBERi0x' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' } },
    ],
    [
      'a text file',
      { type: 'file', filename: 'a.txt', data: Buffer.from('Grüße').toString('base64') },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' }, title: 'a.txt' },
    ],
    [
      'a file elsewhere',
      { type: 'file', url: 'https://example.com/a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ],
  ])('%s is sent', (_what, part, block) => {
    expect(blockOf(part)).toEqual(block);
  });

  test('that no such model accepts is the caller’s fault', () => {
    refused([says({ type: 'audio', data: 'UklGRg==', format: 'wav' })]);
    refused([says({ type: 'file', filename: 'a.docx', data: 'UEsDBA==' })]);
  });
});
