import OpenAI from 'openai';
import { ResponsesToolRunner, runnerFunction } from 'openai/helpers/responses-tool-runner';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import type { Response, ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  askBoth,
  backendNames,
  backendsForThisFile,
  bothCalls,
  openAiAs,
} from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const client = openAiAs(backends.daemon);

const City = z.object({ city: z.string() });
const tools = ['weather', 'clock'].map((name) => zodResponsesFunction({ name, parameters: City }));
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const callsOf = (response: Response) => response.output.filter((item) => item.type === 'function_call');

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe.each(backendNames)('the openai package, Responses, answered by %s', (backend) => {
  test('gets text', async () => {
    const model = backends.script(backend, { text: 'Good morning!' });
    const response = await client.responses.create({ model, input: 'Say good morning.' });
    expect(response.status).toBe('completed');
    expect(response.output_text).toContain('ood morning');
  });

  test('gets a stream whose deltas are the text', async () => {
    const model = backends.script(backend, { text: 'Good morning to all of you!' });
    const events = await collect(
      await client.responses.create({ model, input: 'Say good morning.', stream: true }),
    );
    const text = events
      .map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
      .join('');
    const last = events.at(-1);
    expect(text).toContain('ood morning');
    const message =
      last?.type === 'response.completed'
        ? last.response.output.find(({ type }) => type === 'message')
        : undefined;
    expect(message).toMatchObject({ content: [{ text }] });
  });

  test('runs parallel tools to the end over previous_response_id', async () => {
    const model = backends.script(backend, bothCalls, { text: 'Rain in Oslo, noon in Rome.' });
    const first = await client.responses.create({ model, input: askBoth, tools });
    const calls = callsOf(first);
    expect(calls.map(({ name }) => name)).toEqual(['weather', 'clock']);
    for (const call of calls) City.parse(JSON.parse(call.arguments));

    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: calls.map(({ call_id, name }) => ({
        type: 'function_call_output',
        call_id,
        output: name === 'weather' ? 'rain' : 'noon',
      })),
      tools,
    });
    expect(second.previous_response_id).toBe(first.id);
    expect(second.output_text).toMatch(/rain[\s\S]*noon/i);
  });

  test('runs streamed parallel tools to the end by replaying the whole history', async () => {
    const model = backends.script(
      backend,
      { reasoning: 'Both are needed.', ...bothCalls },
      { text: 'Rain and noon.' },
    );
    const settings = {
      model,
      tools,
      store: false,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    } as const;
    const input: ResponseInput = [{ role: 'user', content: askBoth }];
    const events = await collect(
      await client.responses.create({ ...settings, include: [...settings.include], input, stream: true }),
    );
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error(`the stream ended with ${last?.type}`);
    const { output } = last.response;
    expect(output.some((item) => item.type === 'reasoning' && item.encrypted_content)).toBe(true);
    const results = callsOf(last.response).map(
      ({ call_id, name }) =>
        ({ type: 'function_call_output', call_id, output: name === 'weather' ? 'rain' : 'noon' }) as const,
    );
    expect(results).toHaveLength(2);

    const second = await client.responses.create({
      ...settings,
      include: [...settings.include],
      input: [...input, ...(output as ResponseInput), ...results],
    });
    expect(second.output_text).toMatch(/rain[\s\S]*noon/i);
  });

  test('refers to stored items by their ids alone', async () => {
    const model = backends.script(backend, { text: 'My name is Ada.' }, { text: 'Ada, as I said.' });
    const first = await client.responses.create({ model, input: 'What is your name?' });
    const second = await client.responses.create({
      model,
      input: [
        { role: 'user', content: 'What is your name?' },
        ...first.output.map(({ id }) => ({ type: 'item_reference', id: String(id) }) as const),
        { role: 'user', content: 'Once more?' },
      ],
    });
    expect(second.status).toBe('completed');
    if (backend !== 'simulator')
      expect(JSON.stringify(backends.lastBody(backend))).toContain('My name is Ada.');
  });

  test('parses structured output', async () => {
    const model = backends.script(backend, { text: '{"city":"Oslo"}' });
    const body = { model, input: 'Which city?', text: { format: zodTextFormat(City, 'city') } };
    const response = await client.responses.parse(body);
    expect(response.output_parsed?.city).toEqual(expect.any(String));
  });

  test('parses the arguments of tools', async () => {
    const model = backends.script(backend, { calls: [{ name: 'weather', input: { city: 'Oslo' } }] });
    const response = await client.responses.parse({ model, input: 'Use weather.', tools });
    const [call] = callsOf(response as Response);
    expect(call).toMatchObject({ parsed_arguments: { city: expect.any(String) } });
  });

  test('follows a stream with its helper', async () => {
    const model = backends.script(backend, { reasoning: 'A greeting.', text: 'Hello!', ...bothCalls });
    const stream = client.responses.stream({
      model,
      input: askBoth,
      tools,
      reasoning: { effort: 'high', summary: 'auto' },
    });
    const argumentsSeen: string[] = [];
    stream.on('response.function_call_arguments.delta', ({ snapshot }) => argumentsSeen.push(snapshot));
    const response = await stream.finalResponse();
    const calls = callsOf(response as Response);
    expect(calls).toHaveLength(2);
    expect(argumentsSeen).toContain(calls[1]?.arguments);
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('lets its runner call tools as soon as they arrive', async () => {
    const model = backends.script(backend, { reasoning: 'Both.', ...bothCalls }, { text: 'Rain and noon.' });
    const asked: unknown[] = [];
    const functions = ['weather', 'clock'].map((name) =>
      runnerFunction(
        zodResponsesFunction({
          name,
          parameters: City,
          function: ({ city }) => {
            asked.push(city);
            return name === 'weather' ? 'rain' : 'noon';
          },
        }),
      ),
    );
    const runner = new ResponsesToolRunner({ functions });
    const body = { model, input: askBoth, reasoning: { effort: 'low', summary: 'auto' } } as const;
    const response = await runner.run(client, body, { stream: true, eager: true });
    expect(asked).toHaveLength(2);
    expect(response.output_text).toMatch(/rain[\s\S]*noon/i);
  });

  test('sends images', async () => {
    const model = backends.script(backend, { text: 'I received 1 image: a pixel.' });
    const response = await client.responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_image', image_url: pixel, detail: 'low' },
          ],
        },
      ],
    });
    expect(response.output_text).toContain('1 image');
    if (backend !== 'simulator')
      expect(JSON.stringify(backends.lastBody(backend))).toContain(pixel.slice(22));
  });

  test('gets reasoning summaries', async () => {
    const model = backends.script(backend, { reasoning: 'The user is to be greeted.', text: 'Hello!' });
    const response = await client.responses.create({
      model,
      input: 'Hello!',
      reasoning: { effort: 'medium', summary: 'auto' },
    });
    const thought = response.output.find((item) => item.type === 'reasoning');
    expect(thought?.summary.map(({ text }) => text).join('')).toMatch(/user/);
    expect(thought?.encrypted_content).toBeUndefined();
  });
});

describe('stored responses', () => {
  test('are read, continued and deleted', async () => {
    const created = await client.responses.create({ model: 'sim/echo', input: 'one', metadata: { a: 'b' } });
    const read = await client.responses.retrieve(created.id);
    expect(read).toMatchObject({ id: created.id, output_text: 'one', metadata: { a: 'b' } });
    await client.responses.delete(created.id);
    await expect(client.responses.retrieve(created.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(
      client.responses.create({ model: 'sim/echo', input: 'two', previous_response_id: created.id }),
    ).rejects.toMatchObject({
      status: 404,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
  });

  test('are not stored with store: false', async () => {
    const created = await client.responses.create({ model: 'sim/echo', input: 'one', store: false });
    await expect(client.responses.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });
});

test('models are listed', async () => {
  const ids: string[] = [];
  for await (const { id } of client.models.list()) ids.push(id);
  expect(ids).toEqual(expect.arrayContaining(['sim/assistant', 'openai/gpt-5-mini']));
});

describe('input tokens are counted', () => {
  const prompt = { instructions: 'Be brief.', input: 'How many tokens is this?', tools };
  const count = async (body: object) => {
    const { data, response } = await client.responses.inputTokens.count(body).withResponse();
    expect(data.object).toBe('response.input_tokens');
    return { tokens: data.input_tokens, estimated: response.headers.get('x-service-estimated') };
  };

  test('by OpenAI, with the response that is continued', async () => {
    const model = backends.script('openai', { text: 'Four.' });
    const first = await client.responses.create({ model, input: 'Two and two?' });
    const sent = { ...prompt, previous_response_id: first.id, temperature: 0.5, max_output_tokens: 20 };
    expect(await count({ model, ...sent })).toEqual({ tokens: 4242, estimated: null });
    const request = backends.openai.requests.at(-1);
    expect(request?.path).toBe('/v1/responses/input_tokens');
    expect(request?.body).toEqual({
      model: model.replace('openai/', ''),
      instructions: prompt.instructions,
      tools: JSON.parse(JSON.stringify(tools)),
      input: [
        { type: 'message', role: 'user', content: 'Two and two?' },
        expect.objectContaining({ role: 'assistant' }),
        { type: 'message', role: 'user', content: prompt.input },
      ],
    });
  });

  test('by the simulator, as in its answer', async () => {
    const { usage } = await client.responses.create({ model: 'sim/echo', ...prompt });
    expect(await count({ model: 'sim/echo', ...prompt })).toEqual({
      tokens: usage?.input_tokens,
      estimated: null,
    });
  });

  test.each(['anthropic', 'google'] as const)('by an estimate for %s', async (backend) => {
    const model = backends.script(backend);
    expect(await count({ model, ...prompt })).toEqual({ tokens: expect.any(Number), estimated: 'true' });
    expect(backends[backend].requests).toEqual([]);
  });

  test('also without input', async () => {
    expect((await count({ model: 'sim/echo', instructions: 'Be brief.' })).tokens).toBeGreaterThan(0);
  });

  test.each([
    [{ model: 'sim/none', input: 'Hello' }, 404, 'model_not_found', 'model'],
    [{ input: 'Hello' }, 400, 'invalid_request', 'model'],
    [{ model: 'sim/echo', input: 5 }, 400, 'invalid_request', 'input'],
    [
      { model: 'sim/echo', previous_response_id: 'resp_none' },
      404,
      'previous_response_not_found',
      'previous_response_id',
    ],
  ])('or %j fails like the call', async (body, status, code, param) => {
    await expect(client.responses.inputTokens.count(body as object)).rejects.toMatchObject({
      status,
      code,
      param,
    });
  });
});
