import { describe, expect, test } from 'vitest';
import { parseChat } from '../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseMessagesCall } from '../../src/daemon/features/inference/formats/messages/parse.ts';
import { parseResponses } from '../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../src/daemon/features/inference/formats/responses/parse-input.ts';
import { withinAbilities } from '../../src/daemon/features/inference/translation/within-abilities.ts';
import type { Inference } from '../../src/daemon/features/upstreams/neutral.ts';
import { anthropicAdapter } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { callOf } from '../daemon/upstream/upstream-fixture.ts';

type Json = Record<string, unknown>;

const said = (role: string, content: unknown) => ({ role, content });
const nothing = () => undefined;

/** A conversation in each format. */
const formats = {
  chat: (messages: Json[]) => parseChat({ model: 'm', messages } as never, nothing),
  responses: (input: Json[]) =>
    parseResponses({ model: 'm', input } as never, parseInput(input, nothing, String)),
  messages: (messages: Json[]) =>
    parseMessagesCall({ model: 'm', max_tokens: 9, messages } as never, {}, nothing),
};

/** Servers whose models have strict chat templates, and the others. */
const strict = [
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'mine', baseUrl: 'https://llm.acme.example/v1' },
];
const lenient = [
  { name: 'openai', baseUrl: 'https://api.openai.com/v1' },
  { name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1' },
];

function messagesTo(settings: { name: string; baseUrl: string }, inference: Inference): Json[] {
  return JSON.parse(chatAdapter(settings).request(callOf(inference)).body).messages;
}

interface Case {
  cite: string;
  messages: Json[];
  roles: string;
  texts: string[];
}

/** What clients send, and what the templates of Qwen, Gemma and Mistral accept of it. */
const cases: Case[] = [
  {
    cite: 'ggml-org/llama.cpp#27367, vllm-project/vllm#41114: Codex',
    messages: [
      said('developer', 'a'),
      said('system', 'b'),
      said('developer', 'c'),
      said('user', 'd'),
      said('user', 'e'),
    ],
    roles: 'system user',
    texts: ['a\n\nb\n\nc', 'd\n\ne'],
  },
  {
    cite: 'anthropics/claude-code#77698, ai-dynamo/dynamo#10206: Claude Code',
    messages: [said('system', 'a'), said('user', 'b'), said('system', 'c')],
    roles: 'system user',
    texts: ['a', 'b\n\nc'],
  },
  {
    cite: 'vllm-project/vllm#46976: after compression',
    messages: [said('user', 'a'), said('assistant', 'b'), said('system', 'c')],
    roles: 'user assistant user',
    texts: ['a', 'b', 'c'],
  },
  {
    cite: 'vllm-project/vllm#6862, charmbracelet/crush#279: reminders before the prompt',
    messages: [said('system', 's'), said('user', 'a'), said('user', 'b')],
    roles: 'system user',
    texts: ['s', 'a\n\nb'],
  },
  {
    cite: 'phuetz/code-buddy#75, anomalyco/opencode#42909: several prompts',
    messages: [said('system', 'a'), said('system', 'b'), said('user', 'c')],
    roles: 'system user',
    texts: ['a\n\nb', 'c'],
  },
  {
    cite: 'chujiezheng/chat_templates#15: a prompt as the system’s only',
    messages: [said('system', 'a')],
    roles: 'user',
    texts: ['a'],
  },
];

describe('strict templates', () => {
  for (const { cite, messages, roles, texts } of cases) {
    test.each(Object.keys(formats) as (keyof typeof formats)[])(`${cite}, from the format %s`, (format) => {
      // The Messages format has no developer.
      const sent =
        format === 'messages'
          ? messages.map((message) =>
              message.role === 'developer' ? { ...message, role: 'system' } : message,
            )
          : messages;
      for (const settings of strict) {
        const received = messagesTo(settings, formats[format](sent));
        expect(received.map(({ role }) => role).join(' ')).toBe(roles);
        expect(received.map(({ content }) => content)).toEqual(texts);
      }
    });
    test(`${cite}, to OpenAI and aggregators`, () => {
      for (const settings of lenient) {
        const received = messagesTo(settings, formats.chat(messages));
        expect(received).toEqual(messages);
      }
    });
  }

  test('what is earlier in a conversation stays the beginning of what is sent later', () => {
    const turns = [
      ...[said('system', 'a'), said('developer', 'b'), said('user', 'c'), said('assistant', 'd')],
      ...[said('system', 'e'), said('user', 'f'), said('assistant', 'g'), said('system', 'h')],
    ];
    for (const settings of strict) {
      const all = messagesTo(settings, formats.chat(turns)).map(({ role, content }) => `${role}:${content}`);
      for (let length = 3; length <= turns.length; length += 1) {
        const some = messagesTo(settings, formats.chat(turns.slice(0, length)));
        const text = some.map(({ role, content }) => `${role}:${content}`).join('|');
        expect(all.join('|').startsWith(text)).toBe(true);
      }
    }
  });

  test('parts, calls and their outputs keep their place', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const image = { type: 'image_url', image_url: { url: 'https://e.example/i.png' } };
    const sent = [
      said('user', [image]),
      said('system', 'look'),
      { role: 'assistant', content: 'I call.', reasoning_content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
      said('system', 'careful'),
    ];
    for (const settings of strict) {
      expect(messagesTo(settings, formats.chat(sent))).toEqual([
        said('user', [image, { type: 'text', text: 'look' }]),
        { role: 'assistant', content: 'I call.', reasoning_content: 'x', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
        said('user', 'careful'),
      ]);
    }
  });

  test('participants with names are not joined', () => {
    const sent = [
      { ...said('user', 'a'), name: 'Ann' },
      { ...said('user', 'b'), name: 'Bob' },
    ];
    expect(messagesTo(strict[0] as (typeof strict)[0], formats.chat(sent))).toEqual(sent);
  });

  test('a conversation that is already so is passed on as it is', () => {
    const sent = [said('system', [{ type: 'text', text: 'a', cache_control: {} }]), said('user', 'b')];
    expect(messagesTo(strict[1] as (typeof strict)[0], formats.chat(sent))).toEqual(sent);
  });

  test.each([
    ['a text', said('user', 'a'), [said('user', expect.stringMatching(/^a\n\nAnswer .*schema/is))]],
    ['outputs', said('tool', 'a'), [said('tool', 'a'), said('user', expect.stringContaining('Answer'))]],
  ])('a schema that the model lacks is no system message after %s', (_, last, expected) => {
    const inference = formats.chat([{ ...last, tool_call_id: 'c' }]);
    inference.format = { type: 'json_schema', name: 'n', description: undefined, schema: {}, strict: true };
    const abilities = { reasoning: null, structuredOutput: false, logprobs: null };
    const { body } = withinAbilities(inference, abilities).inference;
    expect(body.messages).toMatchObject(expected);
  });
});

describe('servers with the Messages format', () => {
  const sentTo = (settings: { name: string; baseUrl: string }, body: Json) => {
    const inference = parseMessagesCall({ model: 'm', max_tokens: 9, ...body } as never, {}, nothing);
    const call = callOf(inference, { wire: 'messages' });
    const { countRequest, request } = anthropicAdapter(settings);
    const counted = JSON.parse(countRequest?.(call)?.body ?? '');
    const { system, messages } = JSON.parse(request(call).body);
    expect(counted).toMatchObject({ messages });
    return { system, messages };
  };
  const text = (value: string) => ({ type: 'text', text: value });
  const result = { type: 'tool_result', tool_use_id: 'c', content: 'done' };
  const use = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const body = {
    system: 'a',
    messages: [
      ...[said('system', 'b'), said('user', 'c'), said('system', 'd'), said('assistant', [use])],
      ...[said('system', 'e'), said('user', [result])],
    ],
  };

  test('other than Anthropic get no system message: ggml-org/llama.cpp#27367, anthropics/claude-code#77698', () => {
    for (const name of ['lmstudio', 'mine']) {
      expect(sentTo({ name, baseUrl: 'http://127.0.0.1:1234/v1' }, body)).toEqual({
        system: [text('a'), text('b')],
        messages: [
          said('user', [text('c'), text('d')]),
          said('assistant', [use]),
          said('user', [result, text('e')]),
        ],
      });
    }
  });

  test('of Anthropic get the messages as they are', () => {
    expect(sentTo({ name: 'anthropic', baseUrl: 'http://127.0.0.1:9' }, body)).toEqual(body);
    expect(sentTo({ name: 'mine', baseUrl: 'https://api.anthropic.com' }, body)).toEqual(body);
  });
});
