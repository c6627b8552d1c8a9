import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Conversations, type Format, faultOf, type Json, startConversations } from './given-back.ts';

/** Citations of pages reach clients of every format, whole and streamed, and come back without an error. */

let conversations: Conversations;

beforeAll(async () => {
  conversations = await startConversations();
});

afterAll(() => conversations.stop());

const page = { url: 'https://weather.example/faroe', title: 'The weather' };
const [before, cited] = ['Look: ', 'It rains.'];
const span = { start_index: before.length, end_index: before.length + cited.length };
const document = {
  type: 'char_location',
  cited_text: 'Rain.',
  document_index: 0,
  document_title: 'Report',
  start_char_index: 0,
  end_char_index: 5,
};

const answers: Record<Format, Json | Json[]> = {
  chat: {
    content: before + cited,
    annotations: [{ type: 'url_citation', url_citation: { ...page, ...span } }],
  },
  responses: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: before + cited,
          annotations: [{ type: 'url_citation', ...page, ...span }],
          logprobs: [],
        },
      ],
    },
  ],
  messages: [
    { type: 'text', text: before },
    {
      type: 'text',
      text: cited,
      citations: [
        { type: 'web_search_result_location', ...page, cited_text: 'Rain.', encrypted_index: 'IDX_1' },
        document,
      ],
    },
  ],
};

/** What a client of each format must have got of the page. */
const wanted: Record<Format, (said: Json[]) => void> = {
  chat: ([message]) =>
    expect(message?.annotations).toEqual([{ type: 'url_citation', url_citation: { ...page, ...span } }]),
  responses: (items) => {
    const parts = items.flatMap(({ content }) => (content ?? []) as Json[]);
    const all = parts.flatMap(({ annotations }) => (annotations ?? []) as Json[]);
    expect(all.filter(({ type }) => type === 'url_citation')).toMatchObject([{ ...page, ...span }]);
  },
  messages: (blocks) => {
    const all = blocks.flatMap(({ citations }) => (citations ?? []) as Json[]);
    expect(all.filter(({ type }) => type === 'web_search_result_location')).toMatchObject([page]);
  },
};

const formats = Object.keys(answers) as Format[];

describe.each(formats)('of the %s format', (wire) => {
  test.each(formats.flatMap((client) => [false, true].map((stream) => ({ client, stream }))))(
    'for a client of $client, streamed: $stream',
    async ({ client, stream }) => {
      const shape = { name: 'citations', wire, answer: answers[wire] };
      const body = await conversations.hold(shape, client, stream);
      wanted[client](conversations.said());
      expect(faultOf(shape, body)).toBeUndefined();
      // Anthropic would refuse an index that is none of its own.
      expect(JSON.stringify(body)).not.toContain('unsigned');
      if (wire === 'messages' && client === 'messages') expect(JSON.stringify(body)).toContain('IDX_1');
    },
  );
});

// BerriAI/litellm#13777, vercel/ai#9164: Perplexity, and xAI, list their pages next to the choices, with each chunk or the last.
describe.each([
  ['Perplexity', { citations: [page.url], search_results: [{ ...page, date: null }] }, page.title],
  ['Perplexity, the results only', { search_results: [page] }, page.title],
  ['xAI', { citations: [page.url] }, page.url],
])('pages next to the choices, of %s', (_provider, beside, title) => {
  test.each(
    (['responses', 'messages'] as const).flatMap((client) =>
      [false, true].map((stream) => ({ client, stream })),
    ),
  )('for a client of $client, streamed: $stream', async ({ client, stream }) => {
    const shape = { name: 'sources', wire: 'chat' as const, answer: { content: `${cited}[1]` }, beside };
    expect(faultOf(shape, await conversations.hold(shape, client, stream))).toBeUndefined();
    const said = JSON.stringify(conversations.said());
    expect(said.split(JSON.stringify(page.url).slice(1, -1)).length - 1).toBe(title === page.url ? 2 : 1);
    expect(said).toContain(JSON.stringify(title));
  });

  test('are not told twice where they have places in the text', async () => {
    const shape = { name: 'sources', wire: 'chat' as const, answer: answers.chat, beside };
    await conversations.hold(shape, 'responses', true);
    wanted.responses(conversations.said());
  });
});

test('a document is named in the Responses format, which has a place for it', async () => {
  await conversations.hold(
    { name: 'citations', wire: 'messages', answer: answers.messages },
    'responses',
    true,
  );
  expect(JSON.stringify(conversations.said())).toContain('"file_citation","file_id":"","filename":"Report"');
});

test('Anthropic gets no citations that answers of others have in its format', async () => {
  await conversations.hold({ name: 'citations', wire: 'chat', answer: answers.chat }, 'messages', false);
  const content = conversations.said();
  expect(JSON.stringify(content)).toContain('unsigned');
  const sent = await conversations.continueAt('messages', content);
  expect(JSON.stringify(sent)).toContain(cited);
  expect(JSON.stringify(sent)).not.toContain('citations');
});
