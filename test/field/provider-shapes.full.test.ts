import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAiAs } from '../support/model-backends.ts';
import { bodyOf, pathOf } from '../support/model-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { prices, type Read, type Shape, type ShapeWire, shapes } from './shapes.ts';

/** Every shape through a daemon, read by the SDKs of all formats, whole and streamed. */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
let openai: OpenAI;
let anthropic: Anthropic;

const wires: readonly ShapeWire[] = ['chat', 'responses', 'messages'];

function answerOf(model: unknown): Shape | undefined {
  return shapes[Number(/^(\d+)-/.exec(String(model))?.[1])];
}

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { model, stream } = JSON.parse(body || '{}') as Json;
    const shape = answerOf(model);
    const type = stream ? (shape?.type ?? 'text/event-stream') : 'application/json';
    reply.writeHead(shape ? 200 : 404, { 'content-type': type });
    reply.end(stream ? shape?.stream : JSON.stringify(shape?.whole ?? {}));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  // Each has an upstream of its own, as failures keep an account or a model from being asked.
  const upstreams = shapes.map(({ wire }, at) => ({
    name: `shape-${at}`,
    base_url: url,
    models: ['*'],
    wire,
    prices,
  }));
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify(upstreams)}\n` });
  openai = openAiAs(daemon);
  anthropic = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

const tool = { name: 'get_weather', description: 'w', parameters: { type: 'object', properties: {} } };
const finishes: Record<string, Read['finish']> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

function callOf(name: string | undefined, args: unknown): Json {
  expect(name).toBe('get_weather');
  return (typeof args === 'string' ? JSON.parse(args) : args) as Json;
}

type Reader = (model: string, stream: boolean) => Promise<Read>;

const readers: Record<ShapeWire, Reader> = {
  async responses(model, stream) {
    const body = {
      model,
      input: 'Go.',
      store: false,
      tools: [{ type: 'function' as const, strict: false, ...tool }],
    };
    const answer = stream
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body);
    if (answer.error) throw new Error(answer.error.message);
    const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const incomplete = answer.incomplete_details?.reason === 'content_filter' ? 'content_filter' : 'length';
    const isCut = answer.status !== 'completed';
    return {
      text: answer.output_text,
      calls: isCut ? [] : calls.map((call) => callOf(call.name, call.arguments)),
      finish: isCut ? incomplete : calls.length > 0 ? 'tool_calls' : 'stop',
      input: answer.usage?.input_tokens ?? 0,
      output: answer.usage?.output_tokens ?? 0,
      cached: answer.usage?.input_tokens_details?.cached_tokens ?? 0,
      reasoning: answer.output
        .flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : []))
        .join(''),
    };
  },
  async chat(model, stream) {
    const body = {
      model,
      messages: [{ role: 'user' as const, content: 'Go.' }],
      tools: [{ type: 'function' as const, function: tool }],
    };
    const answer = stream
      ? await openai.chat.completions
          .stream({ ...body, stream_options: { include_usage: true } })
          .finalChatCompletion()
          .catch((error: Error) => {
            if (/finish reason was length/.test(error.message)) return cutAnswer;
            throw error;
          })
      : await openai.chat.completions.create(body);
    if (answer === cutAnswer) return { finish: 'length' };
    const [choice] = answer.choices;
    const message = choice?.message as (Json & { content: string | null; tool_calls?: Json[] }) | undefined;
    const finish = choice?.finish_reason as Read['finish'];
    const calls = (message?.tool_calls ?? []).map(({ function: called }) => called as Json);
    return {
      text: message?.content ?? '',
      calls: finish === 'length' ? [] : calls.map((call) => callOf(String(call.name), call.arguments)),
      finish,
      input: answer.usage?.prompt_tokens ?? 0,
      output: answer.usage?.completion_tokens ?? 0,
      cached: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: String(message?.reasoning_content ?? ''),
    };
  },
  async messages(model, stream) {
    const { parameters: input_schema, ...named } = tool;
    const body = {
      model,
      max_tokens: 4096,
      messages: [{ role: 'user' as const, content: 'Go.' }],
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      tools: [{ ...named, input_schema: { ...input_schema, type: 'object' as const } }],
    };
    const answer = stream
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.create(body);
    const { usage, content } = answer;
    const finish = finishes[String(answer.stop_reason)];
    if (finish === undefined) throw new Error(`an unknown stop reason: ${answer.stop_reason}`);
    const cached = usage.cache_read_input_tokens ?? 0;
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls:
        finish === 'length'
          ? []
          : content.flatMap((block) => (block.type === 'tool_use' ? [callOf(block.name, block.input)] : [])),
      finish,
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
      cached,
      reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    };
  },
};

/** The SDK throws what it read of an answer that was cut. */
const cutAnswer: OpenAI.ChatCompletion = {
  id: '',
  choices: [],
  created: 0,
  model: '',
  object: 'chat.completion',
};

let asked = 0;

async function costOf(wire: ShapeWire, model: string, stream: boolean): Promise<string | undefined> {
  const answer = await daemon.fetch(pathOf[wire], { json: bodyOf({ wire, model, stream }) });
  await answer.text();
  const usage = await daemon.fetch(`/v1/usage/${answer.headers.get('x-request-id')}`);
  return ((await usage.json()) as { cost: { provider_usd: string } | null }).cost?.provider_usd;
}

describe.each(shapes.map((shape, at) => ({ ...shape, at })))('$kind over $wire: $name ($cite)', (shape) => {
  const formats = wires.flatMap((format) => [
    { format, stream: false },
    { format, stream: true },
  ]);

  test.each(formats)('read as $format, streamed: $stream', async ({ format, stream }) => {
    asked += 1;
    const model = `shape-${shape.at}/${shape.at}-${asked}`;
    const reading = readers[format](model, stream);
    const isWhole = !stream && format === shape.wire;
    const want = isWhole ? (shape.readsWhole ?? shape.read) : shape.read;
    if (shape.fails && !(isWhole && shape.readsWhole)) {
      const error: Error & { status?: number } = await reading.then(
        (read) => new Error(`read ${JSON.stringify(read)}`),
        (thrown) => thrown,
      );
      expect(error.message).toMatch(shape.fails);
      expect(error.message).not.toMatch(/^read /);
      if (shape.status !== undefined && error.status !== undefined) expect(error.status).toBe(shape.status);
      return;
    }
    const { cost, reasoning: thoughts, ...withoutThoughts } = want ?? { finish: 'stop' as const };
    const { reasoning, ...read } = await reading;
    expect(read).toMatchObject(withoutThoughts);
    if (thoughts !== undefined && format !== 'responses') expect(reasoning).toBe(thoughts);
    if (cost !== undefined) expect(await costOf(format, model, stream)).toBe(cost);
  });
});
