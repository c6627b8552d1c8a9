import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { answers, bytesOf, eventsOf, says } from '../support/chaos-behaviours.ts';
import { chaosForThisFile } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { completeCall, parseStream } from '../support/model-client.ts';
import { chunk, chunkedHead } from '../support/raw-server.ts';

/** Stop sequences for models and formats that have none: the gateway ends the answer. */
const on = await chaosForThisFile();
const { url, key } = on.daemon;

const counting = { text: 'one two three four five', usage: { input: 9, output: 700 } };
const stops = ['four', 'two'];
const asked = { chat: { stop: stops }, messages: { stop_sequences: stops } } as const;

/** A model that OpenAI's chat format has without stop sequences. */
function reasoningModel(upstream: string, behaviour: Behaviour): string {
  const [, name = ''] = on.chaos.addModel(upstream, behaviour).split('/');
  on.chaos.on(`gpt-5-mini-${name}`, behaviour);
  return `${upstream}/gpt-5-mini-${name}`;
}

/** A server whose models refuse stop sequences, whatever their names say. */
function refusing(then: Behaviour): Behaviour {
  const message = "Unsupported parameter: 'stop' is not supported with this model.";
  const refusal = JSON.stringify({ error: { message, param: 'stop', code: 'unsupported_parameter' } });
  return (call) => ('stop' in call.body ? says(400, { body: refusal })(call) : then(call));
}

const cases = (['chat', 'messages'] as const).flatMap((wire) =>
  (['chat', 'responses'] as const).flatMap((upstream) =>
    [false, true].map((stream) => ({ wire, upstream, stream })),
  ),
);

describe.each(cases)('$wire from $upstream (stream: $stream)', ({ wire, upstream, stream }) => {
  const ask = (model: string) => completeCall(on.daemon, { wire, model, stream, more: asked[wire] });
  const check = (text: string) => {
    if (stream) {
      expect(parseStream(text)).toMatchObject({ text: 'one ', ends: ['finished'], errors: [] });
      const finish = wire === 'chat' ? '"finish_reason":"stop"' : '"stop_sequence":"two"';
      expect(text).toContain(finish);
      return;
    }
    const json = JSON.parse(text);
    if (wire === 'chat')
      expect(json.choices).toMatchObject([{ message: { content: 'one ' }, finish_reason: 'stop' }]);
    else
      expect(json).toMatchObject({
        content: [{ type: 'text', text: 'one ' }],
        stop_reason: 'stop_sequence',
        stop_sequence: 'two',
      });
  };

  test('a reasoning model stops, and is charged for all that it wrote', async () => {
    const model = reasoningModel(upstream, answers(counting));
    const answer = await ask(model);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['x-service-dropped']).toBeUndefined();
    check(answer.text);
    const [call] = on.chaos.callsOf(model.slice(upstream.length + 1));
    expect(call?.body).not.toHaveProperty('stop');
    expect(await on.waitForUsage(model)).toMatchObject({ status: 'completed', input: 9, output: 700 });
  });

  test('an answer without the sequences is left as it is', async () => {
    const model = reasoningModel(upstream, answers({ text: 'seven eight t' }));
    const { text } = await ask(model);
    expect(stream ? parseStream(text).text : text).toContain('seven eight t');
    expect(text).toMatch(/"(end_turn|stop)"/);
  });

  test('a model that turns out to refuse them stops', async () => {
    const model = on.chaos.addModel(upstream, refusing(answers(counting)));
    check((await ask(model)).text);
    check((await ask(model)).text);
  });
});

test('several choices stop each for itself, and call no tool after it', async () => {
  const choice = (index: number, content: string) => ({
    index,
    message: { role: 'assistant', content, tool_calls: [] },
    finish_reason: 'length',
  });
  const choices = [choice(0, 'one two'), choice(1, 'five four'), choice(2, 'six')];
  const document = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices };
  const model = reasoningModel('chat', says(200, { body: JSON.stringify(document) }));
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Count.' }];
  const answer = await openai.chat.completions.create({ model, messages, stop: stops, n: 3 });
  const shown = answer.choices.map(({ message, finish_reason }) => [message.content, finish_reason]);
  expect(shown).toEqual([
    ['one ', 'stop'],
    ['five ', 'stop'],
    ['six', 'length'],
  ]);
  expect(answer.choices[0]?.message.tool_calls).toBeUndefined();
});

test('what fails after the sequence does not fail the answer', async () => {
  const model = reasoningModel('chat', (call) => {
    const events = eventsOf(call, { text: 'one two three four five' });
    const some = events.slice(0, 6).map(chunk).join('');
    call.isAnswered = true;
    call.socket.write(chunkedHead() + some, () => call.socket.resetAndDestroy());
  });
  const answer = await completeCall(on.daemon, { wire: 'chat', model, stream: true, more: asked.chat });
  expect(parseStream(answer.text), answer.text).toMatchObject({
    text: 'one ',
    ends: ['finished'],
    errors: [],
  });
});

test('a stream of several choices reports that they were left out', async () => {
  const model = reasoningModel('chat', (call) => {
    call.isAnswered = true;
    call.socket.write(bytesOf(call, counting));
  });
  const more = { ...asked.chat, n: 2 };
  const answer = await completeCall(on.daemon, { wire: 'chat', model, stream: true, more });
  expect(answer.headers['x-service-dropped']).toBe('stop');
});
