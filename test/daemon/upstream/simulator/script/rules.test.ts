import { describe, expect, test } from 'vitest';
import { parseSimulatorScript } from '../../../../../src/daemon/upstream/simulator/script/parse-script.ts';
import { simulator } from '../../../../../src/daemon/upstream/simulator/simulator.ts';
import { fakeWorld } from '../../../../support/fake-world.ts';
import { user } from '../../../../support/inference.ts';
import {
  type Ask,
  called,
  getAnswer,
  openAnswer,
  result,
  said,
  scripted,
  startSimulator,
  tool,
} from '../drive.ts';

describe('the first matching rule answers', () => {
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
    expect((await getAnswer(upstream, request)).text).toBe(expected);
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

  test('an agent loop: calls, then an answer to the result, without repeating the calls', async () => {
    const upstream = scripted(loop);
    const asked = user('What weather?');
    const first = await getAnswer(upstream, { items: [asked], tools: offered });
    expect(first.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
      ['get_weather', { city: 'Paris', days: 3, note: 'for What weather?' }],
      ['get_time', { zone: 'UTC' }],
    ]);
    const second = await getAnswer(upstream, {
      items: [asked, called('get_weather'), result('18 °C')],
      tools: offered,
    });
    expect(second).toMatchObject({ text: 'It is 18 degrees.', calls: [] });
    const third = await getAnswer(upstream, {
      items: [asked, called('get_time'), result('noon')],
      tools: offered,
    });
    expect(third.text).toBe('Got noon.');
  });

  test('text arguments are sent unchanged, so that broken JSON can be tested', async () => {
    const upstream = scripted(`rules: [{ tool_calls: [{ name: go, arguments: '{"city": ' }] }]`);
    expect((await getAnswer(upstream, { items: [user('x')] })).calls[0]?.arguments).toBe('{"city": ');
  });

  test('text may come before calls', async () => {
    const upstream = scripted(`rules: [{ reply: Let me see., tool_calls: [{ name: go }] }]`);
    const received = await getAnswer(upstream, { items: [user('x')] });
    expect(received).toMatchObject({ text: 'Let me see.', calls: [{ name: 'go', arguments: '{}' }] });
  });

  test('message and tool_result together match the user’s text before the result', async () => {
    const upstream = scripted(`rules: [{ when: { message: weather, tool_result: true }, reply: both }]`);
    expect((await getAnswer(upstream, { items: [user('weather'), called('a'), result('b')] })).text).toBe(
      'both',
    );
    expect((await getAnswer(upstream, { items: [user('weather')] })).text).not.toBe('both');
    expect((await getAnswer(upstream, { items: [user('time'), called('a'), result('b')] })).text).not.toBe(
      'both',
    );
  });
});

describe('the reply of a rule', () => {
  const answer = (rule: string) => getAnswer(scripted(`rules:\n  - ${rule}`), { items: [user('Hello')] });

  test('JSON, with placeholders inside', async () => {
    const { text } = await answer(`json: { received: ['{{message}}'], count: 2, nothing: null }`);
    expect(JSON.parse(text)).toEqual({ received: ['Hello'], count: 2, nothing: null });
    expect((await answer('json: null')).text).toBe('null');
  });

  test('a refusal, reasoning, a finish reason and usage', async () => {
    const received = await answer(`refusal: No.
    reasoning: [One, Two]
    finish: content_filter
    usage: { input_tokens: 900, cached_tokens: 800 }`);
    expect(received).toMatchObject({
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

  test('limits of the request also apply to scripts', async () => {
    const upstream = scripted('rules: [{ reply: one two three four, finish: content_filter }]');
    const received = await getAnswer(upstream, { items: [user('x')], outputTokensMax: 2 });
    expect(received).toMatchObject({ text: 'one two', finish: 'max_output_tokens' });
  });

  test('only the delivery of the model’s own answer', async () => {
    const received = await answer('break_after: 2');
    expect(received.text).toBe('You said:');
    expect(received.failure).toMatchObject({ kind: 'broken' });
  });
});

describe('errors', () => {
  const failure = async (error: string) =>
    getAnswer(scripted(`rules: [{ error: ${error} }]`), { items: [user('x')] }).then(
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

  test('with break_after, the answer starts and the error ends it', async () => {
    const upstream = scripted(
      'rules: [{ reply: one two three, break_after: 2, error: { kind: timeout, message: Gone } }]',
    );
    const received = await getAnswer(upstream, { items: [user('x')] });
    expect(received).toMatchObject({
      text: 'one two',
      failure: { kind: 'timeout', message: 'Gone' },
      finish: undefined,
    });
  });

  test('break_after 0 breaks after the start of the answer', async () => {
    const received = await getAnswer(scripted('rules: [{ reply: one, break_after: 0 }]'), {
      items: [user('x')],
    });
    expect(received.events).toEqual([{ type: 'item-started', index: 0, item: { kind: 'message' } }]);
    expect(received.failure).toMatchObject({ kind: 'broken' });
  });
});

describe('the number of answers', () => {
  test('once and times are used up; then the next rule answers', async () => {
    const upstream = scripted(`
rules:
  - { once: true, error: { status: 503 } }
  - { times: 2, reply: warming up }
  - { reply: ready }
`);
    const texts: string[] = [];
    for (let call = 0; call < 5; call += 1) {
      texts.push(
        await getAnswer(upstream, { items: [user('x')] }).then(
          ({ text }) => text,
          () => 'failed',
        ),
      );
    }
    expect(texts).toEqual(['failed', 'warming up', 'warming up', 'ready', 'ready']);
  });

  test('a rule that does not match is not used up', async () => {
    const upstream = scripted('rules: [{ once: true, when: { message: now }, reply: done }]');
    await getAnswer(upstream, { items: [user('later')] });
    expect((await getAnswer(upstream, { items: [user('now')] })).text).toBe('done');
  });
});

describe('requests without a rule', () => {
  test('are answered as without a script', async () => {
    const request = { items: [user('Hello')], tools: [tool('ping')] };
    const upstream = scripted('rules: [{ when: { message: other }, reply: x }]');
    expect(await getAnswer(upstream, request)).toEqual(await getAnswer(startSimulator(), request));
  });

  test('fail with strict, without repeating the prompt', async () => {
    const upstream = scripted('strict: true\nrules: [{ when: { message: other }, reply: x }]');
    const failed = getAnswer(upstream, {
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
    expect((await getAnswer(upstream, { model: 'sim/support', items: [user('hi')] })).text).toBe('Hi!');
    expect((await getAnswer(upstream, { model: 'sim/support', items: [user('bye')] })).text).toContain('bye');
  });
});

test('latency and rate are those of the rule', async () => {
  const parsed = parseSimulatorScript(
    'rules: [{ reply: one two three, latency_ms: 200, tokens_per_second: 10 }]',
    'test.yaml',
  );
  if (!('script' in parsed)) throw new Error('the script is good');
  const world = fakeWorld();
  const upstream = simulator({ world, makeCallId: () => 'call_1', script: parsed.script });
  const received: [number, string][] = [];
  const reading = openAnswer(upstream, { items: [user('x')] }).then(async (batches) => {
    for await (const { events } of batches) {
      for (const event of events) if (event.type === 'text') received.push([world.elapsed(), event.delta]);
    }
  });
  await world.advance(1000);
  await reading;
  expect(received).toEqual([
    [200, 'one'],
    [300, ' two'],
    [400, ' three'],
  ]);
});
