import { describe, expect, test } from 'vitest';
import { parseSimulatorScript } from '../../../../../src/daemon/upstream/simulator/script/parse-script.ts';
import { simulator } from '../../../../../src/daemon/upstream/simulator/simulator.ts';
import { fakeWorld } from '../../../../support/fake-world.ts';
import { user } from '../../../../support/inference.ts';
import {
  type Ask,
  called,
  hear,
  openAnswer,
  result,
  said,
  scripted,
  startSimulator,
  tool,
} from '../drive.ts';

describe('the first rule that matches answers', () => {
  const upstream = scripted(`
rules:
  - when: { model: sim/ec* }
    reply: by model
  - when: { message: { equals: ping } }
    reply: by whole text
  - when: { message: { matches: '^order #(?<number>\\d+) for (\\w+)$' } }
    reply: 'Order {{number}} for {{2}} on turn {{turn}}, {{unknown}}: “{{message}}”'
  - when: { system: pirate }
    reply: by system
  - when: { turn: 2 }
    reply: by turn
  - when: { images: true }
    reply: by image
  - when: { tools: lookup }
    reply: by tool name
  - when: { tools: true }
    reply: by any tool
  - when: { message: Hello }
    reply: by part
default:
  reply: by default
`);

  test.each<[string, Ask]>([
    ['by model', { model: 'sim/echo', items: [user('hello')] }],
    ['by whole text', { items: [user(' ping\n')] }],
    ['Order 7 for ada on turn 1, {{unknown}}: “Order #7 for ada”', { items: [user('Order #7 for ada')] }],
    ['by system', { instructions: 'You are a PIRATE.', items: [user('hello')] }],
    ['by turn', { items: [user('hello'), said('hi'), user('hello')] }],
    ['by image', { items: [user('hello', { type: 'image', url: 'data:' })] }],
    ['by tool name', { items: [user('hello')], tools: [tool('other'), tool('lookup')] }],
    ['by any tool', { items: [user('hello')], tools: [tool('other')] }],
    ['by part', { items: [user('oh, HELLO there')] }],
    ['by default', { items: [user('bye')] }],
  ])('%s', async (expected, request) => {
    expect((await hear(upstream, request)).text).toBe(expected);
  });
});

describe('tools', () => {
  const loop = `
rules:
  - when: { message: weather }
    tool_calls:
      - name: get_weather
        arguments: { city: Paris, days: 3, note: 'for {{message}}' }
      - name: get_time
  - when: { tool_result: { name: get_weather, matches: '(\\d+) °C' } }
    reply: 'It is {{1}} degrees.'
  - when: { tool_result: true }
    reply: 'Got {{tool_result}}.'
`;
  const offered = [
    tool('get_time', { type: 'object', properties: { zone: { const: 'UTC' } }, required: ['zone'] }),
  ];

  test('an agent’s loop: calls, then an answer by the result, and not the calls again', async () => {
    const upstream = scripted(loop);
    const asked = user('What weather?');
    const first = await hear(upstream, { items: [asked], tools: offered });
    expect(first.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
      ['get_weather', { city: 'Paris', days: 3, note: 'for What weather?' }],
      ['get_time', { zone: 'UTC' }],
    ]);
    const second = await hear(upstream, {
      items: [asked, called('get_weather'), result('18 °C')],
      tools: offered,
    });
    expect(second).toMatchObject({ text: 'It is 18 degrees.', calls: [] });
    const third = await hear(upstream, {
      items: [asked, called('get_time'), result('noon')],
      tools: offered,
    });
    expect(third.text).toBe('Got noon.');
  });

  test('arguments as text are sent as they are, so that broken JSON can be tested', async () => {
    const upstream = scripted(`rules: [{ tool_calls: [{ name: go, arguments: '{"city": ' }] }]`);
    expect((await hear(upstream, { items: [user('x')] })).calls[0]?.arguments).toBe('{"city": ');
  });

  test('text may come before calls', async () => {
    const upstream = scripted(`rules: [{ reply: Let me see., tool_calls: [{ name: go }] }]`);
    const heard = await hear(upstream, { items: [user('x')] });
    expect(heard).toMatchObject({ text: 'Let me see.', calls: [{ name: 'go', arguments: '{}' }] });
  });

  test('message and tool_result together look at the user’s words before the result', async () => {
    const upstream = scripted(`rules: [{ when: { message: weather, tool_result: true }, reply: both }]`);
    expect((await hear(upstream, { items: [user('weather'), called('a'), result('b')] })).text).toBe('both');
    expect((await hear(upstream, { items: [user('weather')] })).text).not.toBe('both');
    expect((await hear(upstream, { items: [user('time'), called('a'), result('b')] })).text).not.toBe('both');
  });
});

describe('what a rule can say', () => {
  const answer = (rule: string) => hear(scripted(`rules:\n  - ${rule}`), { items: [user('Hello')] });

  test('JSON, with placeholders inside', async () => {
    const { text } = await answer(`json: { heard: ['{{message}}'], count: 2, nothing: null }`);
    expect(JSON.parse(text)).toEqual({ heard: ['Hello'], count: 2, nothing: null });
    expect((await answer('json: null')).text).toBe('null');
  });

  test('a refusal, thoughts, an end and a usage of its own', async () => {
    const heard = await answer(`refusal: No.
    reasoning: [One, Two]
    finish: content_filter
    usage: { input_tokens: 900, cached_tokens: 800 }`);
    expect(heard).toMatchObject({
      refusal: 'No.',
      summary: ['One', 'Two'],
      finish: 'content_filter',
      tokens: { input: 900, cachedInput: 800, cacheWrite: 0, reasoning: 2 },
      origin: { provider: 'simulator' },
    });
  });

  test('an empty text', async () => {
    expect(await answer(`reply: ''`)).toMatchObject({ text: '', finish: 'stop' });
  });

  test('limits of the request hold for scripts too', async () => {
    const upstream = scripted('rules: [{ reply: one two three four, finish: content_filter }]');
    const heard = await hear(upstream, { items: [user('x')], outputTokensMax: 2 });
    expect(heard).toMatchObject({ text: 'one two', finish: 'max_output_tokens' });
  });

  test('only how the model’s own answer is delivered', async () => {
    const heard = await answer('break_after: 2');
    expect(heard.text).toBe('You said:');
    expect(heard.failure).toMatchObject({ kind: 'broken' });
  });
});

describe('errors', () => {
  const failure = async (error: string) =>
    hear(scripted(`rules: [{ error: ${error} }]`), { items: [user('x')] }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );

  test.each([
    ['{ status: 400, message: Bad }', 'caller', { status: 400, publicMessage: 'Bad' }],
    ['{ status: 401 }', 'authentication', { status: 401 }],
    ['{ status: 402 }', 'billing', { status: 402 }],
    ['{ status: 404 }', 'unknown-model', { status: 404 }],
    ['{ status: 429, retry_after: 7 }', 'rate-limited', { status: 429, retryAfterSeconds: 7 }],
    ['{ status: 504 }', 'timeout', { status: 504 }],
    ['{ status: 529, message: Overloaded }', 'server', { status: 529 }],
    ['{ kind: rate_limited }', 'rate-limited', { status: 429 }],
    ['{ kind: network }', 'network', { status: undefined }],
    ['{}', 'server', { status: 500 }],
  ])('%s is %s', async (written, kind, details) => {
    expect(await failure(written)).toMatchObject({ kind, details });
  });

  test('with break_after the answer starts and the error ends it', async () => {
    const upstream = scripted(
      'rules: [{ reply: one two three, break_after: 2, error: { kind: timeout, message: Gone } }]',
    );
    const heard = await hear(upstream, { items: [user('x')] });
    expect(heard).toMatchObject({
      text: 'one two',
      failure: { kind: 'timeout', message: 'Gone' },
      finish: undefined,
    });
  });

  test('break_after 0 breaks once the answer has begun', async () => {
    const heard = await hear(scripted('rules: [{ reply: one, break_after: 0 }]'), { items: [user('x')] });
    expect(heard.events).toEqual([{ type: 'item-started', index: 0, item: { kind: 'message' } }]);
    expect(heard.failure).toMatchObject({ kind: 'broken' });
  });
});

describe('how often', () => {
  test('once and times wear out; then the next rule answers', async () => {
    const upstream = scripted(`
rules:
  - { once: true, error: { status: 503 } }
  - { times: 2, reply: warming up }
  - { reply: ready }
`);
    const texts: string[] = [];
    for (let call = 0; call < 5; call += 1) {
      texts.push(
        await hear(upstream, { items: [user('x')] }).then(
          ({ text }) => text,
          () => 'failed',
        ),
      );
    }
    expect(texts).toEqual(['failed', 'warming up', 'warming up', 'ready', 'ready']);
  });

  test('a rule that does not match is not used up', async () => {
    const upstream = scripted('rules: [{ once: true, when: { message: now }, reply: done }]');
    await hear(upstream, { items: [user('later')] });
    expect((await hear(upstream, { items: [user('now')] })).text).toBe('done');
  });
});

describe('requests without a rule', () => {
  test('are answered as without a script', async () => {
    const request = { items: [user('Hello')], tools: [tool('ping')] };
    const upstream = scripted('rules: [{ when: { message: other }, reply: x }]');
    expect(await hear(upstream, request)).toEqual(await hear(startSimulator(), request));
  });

  test('fail loudly under strict, without repeating what was said', async () => {
    const upstream = scripted('strict: true\nrules: [{ when: { message: other }, reply: x }]');
    const failed = hear(upstream, {
      items: [user('secret'), called('look'), result('secret')],
      tools: [tool('look')],
    });
    await expect(failed).rejects.toMatchObject({
      kind: 'caller',
      details: { publicMessage: expect.stringContaining('No rule of test.yaml answers this request') },
    });
    await expect(failed).rejects.toThrow(
      /model sim\/assistant, turn 2, ends with a result of look, 1 tool offered/,
    );
    await expect(failed).rejects.not.toThrow(/secret/);
  });

  test('models that the script adds answer like sim/assistant', async () => {
    const upstream = scripted('models: [sim/support]\nrules: [{ when: { message: hi }, reply: Hi! }]');
    expect((await hear(upstream, { model: 'sim/support', items: [user('hi')] })).text).toBe('Hi!');
    expect((await hear(upstream, { model: 'sim/support', items: [user('bye')] })).text).toContain('bye');
  });
});

test('latency and rate are the rule’s own', async () => {
  const parsed = parseSimulatorScript(
    'rules: [{ reply: one two three, latency_ms: 200, tokens_per_second: 10 }]',
    'test.yaml',
  );
  if (!('script' in parsed)) throw new Error('the script is good');
  const world = fakeWorld();
  const upstream = simulator({ world, makeCallId: () => 'call_1', script: parsed.script });
  const heard: [number, string][] = [];
  const reading = openAnswer(upstream, { items: [user('x')] }).then(async (batches) => {
    for await (const { events } of batches) {
      for (const event of events) if (event.type === 'text') heard.push([world.elapsed(), event.delta]);
    }
  });
  await world.advance(1000);
  await reading;
  expect(heard).toEqual([
    [200, 'one'],
    [300, ' two'],
    [400, ' three'],
  ]);
});
