import { describe, expect, test } from 'vitest';
import type { UsageView } from '../../src/shared/contract/usage.ts';
import { backendsForThisFile, openAiAs } from '../support/model-backends.ts';

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();
const client = openAiAs(backends.daemon);

const drawing = 'iVBORw0KGgoAAAANSUhEUg==';
const url = `data:image/png;base64,${drawing}`;
const image = { type: 'image_url', image_url: { url } };
const usage = {
  promptTokenCount: 10,
  candidatesTokenCount: 1300,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
};
const asked = 'Draw a cat.';

/** Scripts an answer of a few words and a picture. */
function draws(model = 'google/gemini-2.5-flash-image'): string {
  backends.google.answer({ parts: [{ text: 'Here it is.' }, { picture: drawing }], usage });
  return model;
}

const lastContents = () => backends.lastBody('google').contents as { role: string; parts: Json[] }[];

describe('an image from Gemini', () => {
  test('is an item of a response, streamed or not, and goes back with its signature', async () => {
    const model = 'google/gemini-3-pro-image-preview';
    const whole = await client.responses.create({ model: draws(model), input: asked });
    const picture = { type: 'image_generation_call', status: 'completed', result: drawing };
    expect(whole.output[1]).toMatchObject({ ...picture, id: expect.stringMatching(/^ig_/) });
    const stream = client.responses.stream({ model: draws(model), input: asked });
    const added: string[] = [];
    stream.on('response.output_item.added', ({ item }) => added.push(item.type));
    const streamed = await stream.finalResponse();
    expect(streamed.output[1]).toMatchObject(picture);
    expect(added.slice(0, 2)).toEqual(['message', 'image_generation_call']);

    backends.google.answer({ parts: [{ text: 'Black now.' }] });
    const input = 'Make it black.';
    await client.responses.create({ model, input, previous_response_id: streamed.id });
    const [, said] = lastContents();
    expect(said).toMatchObject({
      role: 'model',
      parts: [{ text: 'Here it is.' }, { inlineData: { data: drawing } }],
    });
    expect(said?.parts[1]?.thoughtSignature).not.toBe('skip_thought_signature_validator');
  });

  test('is in `images` of a chat message, streamed or not, and is accepted back', async () => {
    const messages = [{ role: 'user' as const, content: asked }];
    const whole = await client.chat.completions.create({ model: draws(), messages });
    const { message } = whole.choices[0] ?? {};
    expect(message).toMatchObject({ content: 'Here it is.', images: [{ ...image, index: 0 }] });
    const drawn: unknown[] = [];
    for await (const chunk of await client.chat.completions.create({
      model: draws(),
      messages,
      stream: true,
    })) {
      const { delta } = chunk.choices[0] ?? {};
      if (delta && 'images' in delta) drawn.push(delta);
    }
    expect(drawn).toEqual([{ images: [{ ...image, index: 0 }] }]);

    backends.google.answer({ parts: [{ text: 'Black now.' }] });
    const again = [...messages, { role: 'assistant', content: 'Here it is.', images: [image] }, ...messages];
    const body = { model: 'google/gemini-2.5-flash-image', messages: again as never };
    await client.chat.completions.create({ ...body, modalities: ['image', 'text'] as never });
    expect(lastContents()[1]?.parts).toEqual([
      { text: 'Here it is.' },
      { inlineData: { mimeType: 'image/png', data: drawing } },
    ]);
    expect(backends.lastBody('google').generationConfig).toMatchObject({
      responseModalities: ['IMAGE', 'TEXT'],
    });
  });

  test('is charged at the price of images', async () => {
    const { response } = await client.responses.create({ model: draws(), input: asked }).withResponse();
    const answer = await backends.daemon.fetch(`/v1/usage/${response.headers.get('x-request-id')}`);
    const { cost } = (await answer.json()) as UsageView;
    // 10 at 0.3, 10 at 2.5 and 1,290 at 30 dollars a million.
    expect(cost?.provider_usd).toBe('0.038728');
  });

  test('is listed among the model’s abilities, with its price', async () => {
    const { data } = (await (await backends.daemon.fetch('/v1/models')).json()) as { data: Json[] };
    const model = data.find(({ id }) => id === 'google/gemini-2.5-flash-image');
    expect(model?.service).toMatchObject({
      capabilities: { output_modalities: ['text', 'image'] },
      prices: { output: '2.5', image_output: '30' },
    });
  });
});

test('an image from a chat upstream is an item of a response', async () => {
  backends.openai.script({ raw: { headers: { 'content-type': 'text/event-stream' }, body: chunks } });
  const { output } = await client.responses.create({ model: 'chat-only/painter', input: asked });
  expect(output).toMatchObject([{ type: 'message' }, { type: 'image_generation_call', result: drawing }]);
});

const chunks = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Here.' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: { images: [image] }, finish_reason: 'stop' }] },
]
  .map((chunk) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...chunk })}\n\n`)
  .concat('data: [DONE]\n\n')
  .join('');
