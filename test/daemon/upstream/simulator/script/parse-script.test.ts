import { describe, expect, test } from 'vitest';
import { modelsWithScript, simulatorModels } from '../../../../../src/daemon/upstream/simulator/models.ts';
import { parseSimulatorScript } from '../../../../../src/daemon/upstream/simulator/script/parse-script.ts';

function faultsOf(yaml: string): string[] {
  const parsed = parseSimulatorScript(yaml, 'test.yaml');
  if ('script' in parsed) return [];
  return parsed.faults.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
}

test('all faults of a script are reported together, with their positions', () => {
  const faults = faultsOf(`strict: sometimes
rules:
  - when:
      message: { contain: hello }
      turn: 0
    reply: 42
  - wehn: { model: sim/* }
    reply: ok
    tokens_per_second: fast
  - tool_calls:
      - arguments: {}
    error: { kind: server_error, retry_after: -1 }
    finish: done
models: [gpt]
`);
  expect(faults).toEqual([
    'test.yaml:1:9 `strict` must be true or false',
    'test.yaml:4:18 unknown key `contain`: did you mean `contains`?',
    'test.yaml:5:13 `rules[0].when.turn` must be a whole number from 1',
    'test.yaml:6:12 `rules[0].reply` must be text; put quotes around 42',
    'test.yaml:7:5 unknown key `wehn`: did you mean `when`?',
    'test.yaml:9:24 `rules[1].tokens_per_second` must be a number above 0, at most 100000',
    'test.yaml:11:9 `rules[2].tool_calls[0]` needs `name`',
    expect.stringMatching(/^test.yaml:12:20 `rules\[2\].error.kind` must be one of caller, unknown_model, /),
    'test.yaml:12:47 `rules[2].error.retry_after` must be a number of seconds',
    expect.stringMatching(/^test.yaml:13:13 `rules\[2\].finish` must be one of stop, /),
    'test.yaml:14:10 `models[0]` must be text that starts with sim/',
  ]);
});

test.each([
  ['rules: [{ once: true, times: 2 }]', '1:23 give `once` or `times`, not both'],
  [
    'rules: [{ reply: a, json: {} }]',
    '1:21 give `reply` or `json`, not both: each is the text of the answer',
  ],
  [
    'rules: [{ error: {}, reply: a }]',
    '1:22 an error comes instead of an answer: drop `reply`, or add `break_after` to fail in the middle of it',
  ],
  ['rules: [{ break_after: 1, finish: stop }]', '1:27 an answer that breaks off has no `finish`'],
  [
    'strict: true\ndefault: { reply: a }',
    '2:1 `strict` fails what no rule matches, so `default` would never answer: drop one of them',
  ],
  [
    "rules: [{ when: { message: { matches: '(' } } }]",
    '1:39 Invalid regular expression: /(/iu: Unterminated group',
  ],
])('contradictions are reported: %s', (yaml, expected) => {
  expect(faultsOf(yaml)).toEqual([`test.yaml:${expected}`]);
});

describe('an invalid file', () => {
  test.each([
    ['', '1:1 the script is empty'],
    ['- reply: a', '1:1 the script must be a map with rules'],
    ['hello', '1:1 the script must be a map with rules'],
    ['rules: [', /^test.yaml:1:9 this is not YAML: /],
    ['strict: true\nstrict: false', /^test.yaml:2:1 `strict` is already set above/],
    ['rules: *missing', '1:8 there is no anchor named missing'],
    [
      'rules: [{ reply: {{message}} }]',
      '1:18 `rules[0].reply` must be text; put quotes around text that starts with {{',
    ],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((to, at) => `${to}: &${to} [${Array(9).fill(`*${'abcdefgh'[at]}`)}]`).join('\n')}`,
      /alias/i,
    ],
  ])('%j', (yaml, expected) => {
    const faults = faultsOf(yaml);
    expect(faults[0]).toEqual(
      typeof expected === 'string' ? `test.yaml:${expected}` : expect.stringMatching(expected),
    );
  });
});

test('anchors and merges work, and faults in them have positions', () => {
  const yaml = (pace: string) => `
rules:
  - &slow { when: { message: a }, reply: A, ${pace} }
  - { <<: *slow, when: { message: b } }
`;
  const parsed = parseSimulatorScript(yaml('latency_ms: 5'), 'test.yaml');
  expect('script' in parsed && parsed.script.rules?.map((rule) => [rule.reply, rule.latency_ms])).toEqual([
    ['A', 5],
    ['A', 5],
  ]);
  expect(faultsOf(yaml('latency_ms: fast')).map((fault) => fault.split(' ')[0])).toEqual([
    'test.yaml:3:57',
    'test.yaml:4:5',
  ]);
});

test('JSON is YAML too', () => {
  expect(faultsOf('{"rules": [{"when": {"tools": true}, "reply": "x"}]}')).toEqual([]);
});

test('models of a script are added once', () => {
  const models = modelsWithScript({ models: ['sim/support', 'sim/echo'] });
  expect(models.map(({ id }) => id)).toEqual([...simulatorModels.map(({ id }) => id), 'sim/support']);
});
