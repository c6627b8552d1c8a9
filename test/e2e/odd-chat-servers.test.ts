import { describe, expect, test } from 'vitest';
import { bytesOf, eventsOf, rewritten, says, words } from '../support/chaos-behaviours.ts';
import { chaosForThisFile } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { checkChat, checkChatStream } from '../support/chat-check.ts';
import type { FakeAnswer } from '../support/fake-openai-script.ts';
import { completeCall, pathOf } from '../support/model-client.ts';
import { postForChunks } from '../support/raw-chunks.ts';

/** Chat callers of servers that only nearly speak the chat format. */
const on = await chaosForThisFile();

type Json = Record<string, unknown>;
type Change = (json: Json, at: number) => unknown;

const answer: FakeAnswer = { text: words };
const calling: FakeAnswer = { calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] };
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];

/** The usual answer with each chunk, or the document, changed. */
function changed(change: Change, usual = answer): Behaviour {
  return (call) => {
    if (!call.stream) {
      const [, body = ''] = bytesOf(call, usual).toString().split('\r\n\r\n');
      says(200, { body: JSON.stringify(change(JSON.parse(body), 0)) })(call);
      return;
    }
    let at = -1;
    const each = (_line: string, json: string) => {
      at += 1;
      return `data: ${JSON.stringify(change(JSON.parse(json), at))}`;
    };
    rewritten((text) => text.replace(/^data: (\{.*)$/gm, each), usual)(call);
  };
}

async function chunksOf(model: string, more: Json = {}): Promise<string[]> {
  const { url, key } = on.daemon;
  const json = {
    model,
    messages: [{ role: 'user', content: 'Hi.' }],
    stream: true,
    stream_options: { include_usage: true },
    ...more,
  };
  const { status, chunks } = await postForChunks(url + pathOf.chat, {
    headers: { authorization: `Bearer ${key}` },
    json,
  });
  expect(status, chunks.join('')).toBe(200);
  return chunks;
}

async function wholeOf(model: string, more: Json = {}): Promise<Json> {
  const { status, text } = await completeCall(on.daemon, { wire: 'chat', model, stream: false, more });
  expect(status, text).toBe(200);
  return JSON.parse(text) as Json;
}

/** Removes a member at any depth. */
function without(name: string): Change {
  return (json) => JSON.parse(JSON.stringify(json, (key, value) => (key === name ? undefined : value)));
}

const finishing =
  (reason: string): Change =>
  (json) =>
    JSON.parse(JSON.stringify(json).replace(/"finish_reason":"\w+"/, `"finish_reason":"${reason}"`));

describe.each(['role', 'object', 'id', 'created', 'model', 'total_tokens'])('without %s', (name) => {
  test('a stream is complete', async () => {
    const model = on.chaos.addModel('chat', changed(without(name)));
    expect(checkChatStream(await chunksOf(model), { includesUsage: true }).content).toBe(words);
  });

  test('a document is complete', async () => {
    const whole = await wholeOf(on.chaos.addModel('chat', changed(without(name))));
    expect(checkChat(whole)).toMatchObject({ content: words });
  });
});

test('calls without a type have it', async () => {
  const behaviour = changed(without('type'), calling);
  const streamed = await chunksOf(on.chaos.addModel('chat', behaviour), { tools });
  expect(streamed.join('')).toMatch(/"type":"function"/);
  const whole = await wholeOf(on.chaos.addModel('chat', behaviour), { tools });
  expect(JSON.stringify(whole)).toContain('"type":"function"');
});

test.each([
  ['eos', answer, 'stop'],
  ['max_tokens', answer, 'length'],
  ['function_call', calling, 'tool_calls'],
  ['tool_use', calling, 'tool_calls'],
] as const)('the finish reason %s', async (reason, usual, finish) => {
  const behaviour = changed(finishing(reason), usual);
  const streamed = await chunksOf(on.chaos.addModel('chat', behaviour), { tools });
  expect(checkChatStream(streamed, { includesUsage: true }).finish).toBe(finish);
  const whole = await wholeOf(on.chaos.addModel('chat', behaviour), { tools });
  expect(whole.choices).toMatchObject([{ finish_reason: finish }]);
});

test('a document without usage has an estimate', async () => {
  const whole = await wholeOf(on.chaos.addModel('chat', changed(without('usage'))));
  expect(whole.usage).toMatchObject({ completion_tokens: Math.ceil(words.length / 4) });
});

test('an empty first id, as from Azure, becomes that of all chunks', async () => {
  const model = on.chaos.addModel('chat', (call) => {
    const filter = { choices: [], created: 0, id: '', model: '', object: '' };
    const text = `data: ${JSON.stringify(filter)}\n\n${eventsOf(call).join('')}`;
    rewritten(() => text)(call);
  });
  const chunks = await chunksOf(model);
  const ids = new Set([...chunks.join('').matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id));
  expect(ids.size).toBe(1);
  expect([...ids][0]).not.toBe('');
});

/** The gateway's own members. */
const unlabelled = (text: string) => text.replace(/"(id|created|model)":("[^"]*"|\d+)/g, '"$1":0');

test('an ordinary stream is passed on byte for byte but for its label', async () => {
  let sent = '';
  const model = on.chaos.addModel('chat', (call) => {
    sent = eventsOf(call).slice(0, -2).join('');
    rewritten((text) => text)(call);
  });
  expect(unlabelled((await chunksOf(model)).join('')).startsWith(unlabelled(sent))).toBe(true);
});

test('allowed_tools reaches servers that do not know it as fewer tools', async () => {
  const model = on.chaos.addModel(
    'chat',
    changed((json) => json),
  );
  const other = { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } };
  const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'weather' } }] };
  await wholeOf(model, { tools: [...tools, other], tool_choice: { type: 'allowed_tools', allowed_tools } });
  const [call] = on.chaos.callsOf(model.slice('chat/'.length));
  expect(call?.body).toMatchObject({ tools, tool_choice: 'required' });
});
