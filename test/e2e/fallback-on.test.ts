import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeAnswer, type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Two servers with each format, of which the second is asked where `fallback_on` says so. */
let first: FakeOpenAi;
let second: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  [first, second] = await Promise.all([startFakeOpenAi(), startFakeOpenAi()]);
  const upstream = (name: string, { baseUrl }: FakeOpenAi, wire: string) =>
    `  - { name: ${name}-${wire}, base_url: "${baseUrl}", models: [m], wire: ${wire}, prices: { input: "1", output: "2" } }`;
  daemon = await startDaemon({
    config: [
      'upstreams:',
      ...['chat', 'responses'].flatMap((wire) => [
        upstream('first', first, wire),
        upstream('second', second, wire),
      ]),
      'aliases:',
      '  chat: [first-chat/m, second-chat/m]',
      '  responses: [first-responses/m, second-responses/m]',
    ].join('\n'),
  });
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([first.close(), second.close()]);
});

beforeEach(() => {
  for (const fake of [first, second]) fake.forget();
  second.always({ text: 'From the second.' });
});

const paths = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
} as const;

interface Asked {
  format: keyof typeof paths;
  model: string;
  stream: boolean;
  on: string[] | undefined;
}

async function ask({ format, model, stream, on }: Asked) {
  const prompt = [{ role: 'user', content: 'Hello.' }];
  const body = format === 'responses' ? { input: 'Hello.' } : { messages: prompt, max_tokens: 100 };
  const answer = await daemon.fetch(paths[format], {
    json: { model, stream, ...body, ...(on && { service: { fallback_on: on } }) },
    headers: format === 'messages' ? { 'anthropic-version': '2023-06-01' } : {},
  });
  const text = await answer.text();
  return { status: answer.status, isSecond: second.requests.length > 0, text };
}

const flagged = {
  error: { status: 400, message: 'Your request was flagged.', code: 'content_policy_violation' },
};
const tooLong = {
  error: { status: 400, message: 'maximum context length is 10 tokens', code: 'context_length_exceeded' },
};
/** What the first one answers, and the name under which the next one is tried. */
const answers: Record<string, { answer: FakeAnswer; on: string }> = {
  'a filtered request': { answer: flagged, on: 'content_filter' },
  'a filtered answer without content': {
    answer: { text: '', finish: 'content_filter' } as FakeAnswer,
    on: 'content_filter',
  },
  'an answer of nothing': { answer: { text: '' }, on: 'empty' },
  'an answer of white space': { answer: { text: '\n \n' }, on: 'empty' },
  'a long input': { answer: tooLong, on: 'context_length' },
};
const all = ['content_filter', 'empty', 'context_length'];

describe.each(['chat', 'responses'])('at servers with the format %s', (model) => {
  describe.each(Object.keys(paths) as (keyof typeof paths)[])('a call in the format %s', (format) => {
    describe.each([false, true])('streamed: %s', (stream) => {
      test.each(Object.keys(answers))('%s', async (name) => {
        const { answer, on } = answers[name] as (typeof answers)[string];
        for (const asked of [undefined, all.filter((one) => one !== on), [on]]) {
          first.forget();
          second.forget();
          first.script(answer);
          const { status, isSecond, text } = await ask({ format, model, stream, on: asked });
          const isWanted = asked?.includes(on) ?? false;
          expect({ asked, isSecond }).toEqual({ asked, isSecond: isWanted });
          if (!isWanted) continue;
          expect(status).toBe(200);
          expect(text.match(/From/g)?.length).toBeGreaterThan(0);
        }
      });

      test('an answer with content is never repeated', async () => {
        first.script({ text: 'From the first.' }, { text: 'Half', finish: 'length' } as FakeAnswer);
        expect(await ask({ format, model, stream, on: all })).toMatchObject({ status: 200, isSecond: false });
        expect(await ask({ format, model, stream, on: all })).toMatchObject({ status: 200, isSecond: false });
      });
    });
  });
});
