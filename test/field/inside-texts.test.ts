import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Thoughts and calls that a server left in the text of its model, for clients of other formats than its own. */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
/** What the model writes, and in pieces of how many characters; 0 for an answer that is not streamed. */
let written: { text: string; length: number; finish?: string };
let models = 0;

const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };

function chunk(delta: Json, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`;
}

function said(): string {
  const { text, length, finish = 'stop' } = written;
  if (length === 0) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }];
    return JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage });
  }
  const pieces = text.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? [];
  return `${pieces.map((content) => chunk({ content })).join('')}${chunk({}, finish)}data: [DONE]\n\n`;
}

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    for await (const _piece of request);
    const type = written.length === 0 ? 'application/json' : 'text/event-stream';
    reply.writeHead(200, { 'content-type': type });
    reply.end(said());
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstream = { name: 'up', base_url, models: ['*'], wire: 'chat' };
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify([upstream])}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(() => {
  models += 1;
});

const input = 'How is the weather?';
const messages = [{ role: 'user', content: input }];
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' }, note: { type: 'string' } },
};

async function post(path: string, json: Json): Promise<Json> {
  const reply = await daemon.fetch(path, { json: { model: `up/m${models}`, ...json } });
  expect(reply.status, await reply.clone().text()).toBe(200);
  return (await reply.json()) as Json;
}

/** What clients of the two other formats read. */
async function ask(): Promise<{ output: Json[]; content: Json[] }> {
  const tool = { type: 'function', name: 'get_weather', strict: false, parameters: schema };
  const { output } = await post('/v1/responses', { input, store: false, tools: [tool] });
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const tools = [{ name: 'get_weather', input_schema: schema }];
  const { content } = await post('/v1/messages', { max_tokens: 2000, thinking, messages, tools });
  return { output: output as Json[], content: content as Json[] };
}

// vllm-project/vllm#46042, #45687, decolua/9router#2231, BerriAI/litellm#27483, ENTERPILOT/GoModel#1041
describe('thoughts between tags at the start of a text are reasoning', () => {
  const answer = 'It rains < and > pours.';
  const thought = 'Which town?\n\nA </thing>.';

  test.each([
    ['think', 1],
    ['think', 2],
    ['think', 5],
    ['thinking', 7],
    ['mm:think', 3],
    ['think', 500],
    ['think', 0],
  ])('<%s> in pieces of %i', async (tag, length) => {
    for (const space of ['\n', '']) {
      written = {
        text: `${space}<${tag}>${space}${thought}${space}</${tag}>\n\n${answer}`,
        length,
      };
      const { output, content } = await ask();
      expect(output).toMatchObject([
        { type: 'reasoning', summary: [{ text: thought }] },
        { type: 'message', content: [{ text: answer }] },
      ]);
      expect(content).toMatchObject([
        { type: 'thinking', thinking: thought },
        { type: 'text', text: answer },
      ]);
    }
  });

  test('that were cut are no text', async () => {
    written = { text: `<think>${thought}`, length: 4, finish: 'length' };
    const { output } = await ask();
    expect(output).toMatchObject([{ type: 'reasoning', summary: [{ text: thought }] }]);
  });

  test.each(['<thin ice>', '< think>', 'He said <think>x</think>.', '<think'])(
    '%s is a text',
    async (text) => {
      written = { text, length: 2 };
      expect((await ask()).content).toMatchObject([{ type: 'text', text }]);
    },
  );

  test('clients of the chat format get the text as it is', async () => {
    const text = `<think>${thought}</think>${answer}`;
    written = { text, length: 0 };
    const { choices } = await post('/v1/chat/completions', { messages });
    expect(choices).toMatchObject([{ message: { content: text } }]);
  });
});

// Gitlawb/openclaude#1791, NousResearch/hermes-agent#83023, panbanda/higgs#177, aaif-goose/goose#3748, openclaw/openclaw#44959
describe('calls that are written into a text are calls', () => {
  const args = { city: 'Tórshavn', days: 3, note: '3 < 4\nand "more"' };
  const noted = '\n3 < 4\nand "more"\n';
  const forms = {
    'JSON, as of Hermes': JSON.stringify({ name: 'get_weather', arguments: args }),
    'JSON in a text': JSON.stringify({ name: 'get_weather', arguments: JSON.stringify(args) }),
    'tags, as of Qwen': `<function=get_weather>\n<parameter=city>\nTórshavn\n</parameter>\n<parameter=days>\n3\n</parameter>\n<parameter=note>${noted}</parameter>\n</function>`,
    'tags, as of GLM': `get_weather\n<arg_key>city</arg_key>\n<arg_value>Tórshavn</arg_value>\n<arg_key>days</arg_key><arg_value>3</arg_value><arg_key>note</arg_key><arg_value>${noted}</arg_value>`,
  };

  describe.each(Object.entries(forms))('%s', (_form, call) => {
    test.each([1, 3, 8, 5000, 0])('in pieces of %i', async (length) => {
      written = { text: `I look.\n<tool_call>\n${call}\n</tool_call>\n`, length };
      const { output, content } = await ask();
      expect(output).toMatchObject([
        { type: 'message', content: [{ text: expect.stringMatching(/^I look\.\s*$/) }] },
        { type: 'function_call', name: 'get_weather' },
      ]);
      expect(JSON.parse(String(output[1]?.arguments))).toEqual(args);
      expect(content).toMatchObject([
        { type: 'text', text: expect.stringMatching(/^I look\.\s*$/) },
        { type: 'tool_use', name: 'get_weather', input: args },
      ]);
    });
  });

  test('after thoughts, and several', async () => {
    const calls = [1, 2].map((days) => {
      const call = JSON.stringify({ name: 'get_weather', arguments: { days } });
      return `<tool_call>\n${call}\n</tool_call>`;
    });
    written = { text: `<think>\nTwo towns.\n</think>\n\n${calls.join('\n')}`, length: 7 };
    const { content } = await ask();
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'Two towns.' },
      { type: 'tool_use', input: { days: 1 } },
      { type: 'tool_use', input: { days: 2 } },
    ]);
    expect(new Set(content.map(({ id }) => id)).size).toBe(3);
  });

  test.each([
    ['of another tool', '<tool_call>{"name":"format_disk","arguments":{}}</tool_call>'],
    ['without an end', '<tool_call>{"name":"get_weather","arguments":{}}'],
    ['that cannot be read', '<tool_call>{"name":"get_weather","arguments":</tool_call>'],
    ['without its tool', 'Calls are written as <tool_call>…</tool_call>, see <https://docs.example>.'],
  ])('one %s is a text', async (_what, text) => {
    for (const length of [1, 9, 0]) {
      written = { text, length };
      expect((await ask()).content).toMatchObject([{ type: 'text', text }]);
    }
  });

  test('nothing is a call where there are no tools', async () => {
    const text = `<tool_call>${forms['JSON, as of Hermes']}</tool_call>`;
    written = { text, length: 6 };
    expect(await post('/v1/messages', { max_tokens: 99, messages })).toMatchObject({ content: [{ text }] });
  });
});
