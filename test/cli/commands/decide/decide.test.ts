import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exitCodes } from '../../../../src/shared/errors.ts';
import { type RunOptions, runCli } from '../../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../../support/start-daemon.ts';

let daemon: RunningDaemon;
let folder: string;

beforeAll(async () => {
  [daemon, folder] = await Promise.all([startDaemon(), mkdtemp(join(tmpdir(), 'gateway-test-'))]);
});

afterAll(async () => {
  await Promise.all([daemon.stop(), rm(folder, { recursive: true })]);
});

const decide = (args: string[], options: RunOptions = {}) =>
  runCli(['decide', ...args], {
    ...options,
    env: { GATEWAY_HOME: daemon.home, GATEWAY_DECISION_MODEL: 'sim/assistant', ...options.env },
  });

describe('one decision', () => {
  test('is drawn as bars on a terminal', async () => {
    const { code, stdout, stderr } = await decide(
      [
        'Which team?',
        '--choice',
        'billing: refund, charge',
        '--choice',
        'tech,sales',
        '-t',
        'A refund, please.',
      ],
      { tty: true, env: { NO_COLOR: '1' } },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Which team\?\n {2}billing {2}█+.*%\n {2}tech {5}█.*%\n {2}sales {4}█.*%\n$/);
    expect(stderr).toMatch(/^sim\/assistant via simulator · decision endpoint · \d+ ms\n$/);
  });

  test('is JSON in a pipe, and the bare answer with --quiet', async () => {
    const stdin = 'A refund, please.';
    const { stdout } = await decide(['Is it a refund?'], { stdin });
    const decision = JSON.parse(stdout);
    expect(decision.answers).toMatchObject([{ type: 'predicate', probability: expect.any(Number) }]);
    const quiet = await decide(['-q', 'How urgent?', '--levels', 'low,high'], { stdin });
    expect(quiet.stdout).toBe('0.5000\n');
  });

  test('is made by the simulator while nothing else is set up, which is said', async () => {
    const env = { GATEWAY_DECISION_MODEL: '' };
    const { code, stdout, stderr } = await decide(['spam'], { stdin: 'This is spam.', env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ model: 'sim/assistant', answers: [{ type: 'predicate' }] });
    expect(stderr).toMatch(/sim\/assistant answers: the built-in simulator/);
    expect(stderr).toMatch(/gateway engine add [^\n]* \(--model/);
    const lines = await decide(['spam', '--lines'], { stdin: 'one\ntwo', env });
    expect(lines.stdout.match(/"model":"sim\/assistant"/g)).toHaveLength(2);
    expect(lines.stderr.match(/simulator/g)).toHaveLength(1);
    // Who asks for the engine gets no one else.
    const hosted = await decide(['spam', '--order', 'hosted'], { stdin: 'This is spam.', env });
    expect(hosted.code).toBe(exitCodes.tryLater);
  });

  test('is left to peers where those come first', async () => {
    const host = await startDaemon({ config: 'decisions: { default_order: peer }\n' });
    onTestFinished(async () => void (await host.stop()));
    const { code, stderr } = await runCli(['decide', 'spam', '-t', 'This is spam.'], {
      env: { GATEWAY_HOME: host.home },
    });
    expect(code).toBe(exitCodes.tryLater);
    expect(stderr).not.toContain('simulator, which compares words');
  });

  test.each([
    ['the refund', exitCodes.done],
    ['something else', exitCodes.failed],
  ])('sets the exit status: %s', async (text, expected) => {
    const { code } = await decide(['Refund?', '--exit-status', '-t', text]);
    expect(code).toBe(expected);
  });

  test.each<[string[], RegExp]>([
    [[], /No question was asked/],
    [['Late?'], /There is no input/],
    [['Late?', '-t', 'x', '--choice', 'a,b', '--exit-status'], /--exit-status needs/],
    [['Late?', '-t', 'x', '--choice', 'a,b', '--levels', 'c,d'], /Only one of/],
    [['Late?', '-t', 'x', '--output', 'f'], /need --lines or --ndjson/],
    [['Late?', '--input', '/no/such/file'], /The file \/no\/such\/file does not exist/],
  ])('explains wrong flags: %j', async (args, message) => {
    const { code, stdout, stderr } = await decide(args);
    expect({ code, stdout }).toEqual({ code: exitCodes.usage, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('a file of questions', () => {
  const questionsFile = async (name: string, text: string) => {
    const file = join(folder, name);
    await writeFile(file, text);
    return file;
  };

  test('that has a wrong question is what to change, and the question is named', async () => {
    const questions = [
      { type: 'predicate', instructions: 'Is it late?' },
      { type: 'choice', instructions: 'Which team?', choices: [] },
    ];
    const file = await questionsFile('wrong.json', JSON.stringify(questions));
    const { code, stderr } = await decide(['--questions', file, '-t', 'x']);
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain('questions[1].choices');
    expect(stderr).toContain('Change --questions, then try again.');
  });

  test('that is nested too deeply is refused, not taken for a fault of the program', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const file = await questionsFile('deep.json', `[{"type":"predicate","instructions":${deep}}]`);
    const { code, stderr } = await decide(['--questions', file, '-t', 'x']);
    expect({ code, stderr }).toEqual({
      code: exitCodes.usage,
      stderr: 'error: The input is nested too deeply: at most 64 levels are accepted.\n',
    });
  });
});

describe('a batch', () => {
  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  test('keeps the order of the lines', async () => {
    const stdin = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 'refund' : 'crash')).join('\n');
    const asked = ['Which?', '--choice', 'refund,crash', '--lines', '--concurrency', '8'];
    const { code, stdout, stderr } = await decide(asked, { stdin });
    expect(code).toBe(0);
    const results = linesOf(stdout);
    expect(results.map(({ line }) => line)).toEqual(results.map((_, at) => at + 1));
    expect(results.map(({ answers }) => answers[0].choice)).toEqual(stdin.split('\n'));
    expect(stderr).toContain('40 lines, 0 failed');
  });

  test('continues a stopped run, also after half a line', async () => {
    const output = join(folder, 'results.ndjson');
    const asked = ['Late?', '--ndjson', '--output', output];
    const input = (count: number) =>
      Array.from({ length: count }, (_, at) => JSON.stringify({ id: `m${at}`, input: `late ${at}` })).join(
        '\n',
      );
    await decide(asked, { stdin: input(3) });
    const before = await readFile(output, 'utf8');
    await writeFile(output, `${before}{"line":4,"dig`);
    const { stderr } = await decide(asked, { stdin: input(6) });
    expect(stderr).toContain('6 lines, 0 failed, 3 done before');
    const after = await readFile(output, 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(linesOf(after).map(({ line, id }) => [line, id])).toEqual(
      Array.from({ length: 6 }, (_, at) => [at + 1, `m${at}`]),
    );
    const other = await decide(['Early?', '--ndjson', '--output', output], { stdin: input(6) });
    expect(other.code).toBe(exitCodes.usage);
    expect(other.stderr).toContain('has results of other inputs or questions');
    expect(await readFile(output, 'utf8')).toBe(after);
  });

  test.each([
    ['JSON of something else', '{"precious":true}\n'],
    ['a text without an end of line', 'note'],
    ['lines of other JSON', '{"line":1,"digest":"x"}\nnull\n'],
    ['UTF-16', Buffer.from('\ufeffGrüße\n天', 'utf16le')],
  ])('leaves %s as it is', async (_what, content) => {
    const output = join(folder, 'precious');
    await writeFile(output, content);
    const { code, stderr } = await decide(['Late?', '--lines', '-o', output], { stdin: 'late' });
    expect({ code, stderr }).toEqual({
      code: exitCodes.usage,
      stderr: expect.stringContaining('has other content than results'),
    });
    expect(await readFile(output)).toEqual(Buffer.from(content));
  });

  test('says before it asks that the results cannot be written', async () => {
    for (const output of [folder, join(folder, 'none', 'results')]) {
      const { code, stderr } = await decide(['Late?', '--lines', '-o', output], { stdin: 'late' });
      expect({ code, stderr }).toEqual({
        code: exitCodes.usage,
        stderr: expect.stringContaining('cannot be saved'),
      });
    }
  });

  test('asks only the sources of --order', async () => {
    const { code, stderr } = await decide(['Late?', '--order', 'hosted', '--lines'], { stdin: 'late' });
    expect(code).not.toBe(exitCodes.done);
    expect(stderr).toContain('engine');
  });

  test('prints selected fields, and answers alone', async () => {
    const options = { stdin: 'late\non time' };
    expect((await decide(['Late?', '--lines', '--json=line'], options)).stdout).toBe(
      '{"line":1}\n{"line":2}\n',
    );
    expect((await decide(['Late?', '--lines', '--jq', '.answers[0].type'], options)).stdout).toBe(
      'predicate\npredicate\n',
    );
    expect((await decide(['Late?', '--lines', '-q'], options)).stdout).toMatch(/^[\d.]+\n[\d.]+\n$/);
  });

  test('goes on after a line that is no JSON, and ignores empty ones', async () => {
    const stdin = ['{"input":"late"}', '', 'not json', '{"input":"on time","id":7}', ''].join('\n');
    const { code, stdout } = await decide(['Late?', '--ndjson'], { stdin });
    expect(code).toBe(exitCodes.partlyDone);
    expect(linesOf(stdout)).toMatchObject([
      { line: 1, answers: [{}] },
      { line: 3, error: { code: 'invalid_request' } },
      { line: 4, id: 7, answers: [{}] },
    ]);
  });

  test('stops when another command appends to the same file', async () => {
    const output = join(folder, 'shared.ndjson');
    const stdin = Array.from({ length: 100 }, (_, at) => `late ${at}`).join('\n');
    const asked = ['Late?', '--lines', '--output', output];
    const both = await Promise.all([decide(asked, { stdin }), decide(asked, { stdin })]);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    // One that starts after the other has finished finds everything done.
    for (const { code, stderr } of both) {
      if (code !== 0) expect(stderr).toContain('was changed by another command');
    }
    expect(linesOf(await readFile(output, 'utf8')).map(({ line }) => line)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });

  test('reports lines that fail, and goes on', async () => {
    const stdin = ['short', 'x'.repeat(140_000), 'short'].join('\n');
    const { code, stdout } = await decide(['Late?', '--lines'], { stdin });
    expect(code).toBe(exitCodes.partlyDone);
    expect(linesOf(stdout)).toMatchObject([
      { answers: [{}] },
      { line: 2, error: { code: 'limit_exceeded' } },
      { answers: [{}] },
    ]);
  });
});

test('a fit makes later answers calibrated, until it is removed', async () => {
  const fitted = await decide(['fit', 'test/fixtures/labelled.jsonl', '--json']);
  const [{ temperature, nll_before: before, nll_after: after }] = JSON.parse(fitted.stdout);
  expect(after).toBeLessThan(before);
  const ask = async () =>
    JSON.parse((await decide(['Which?', '--choice', 'refund,crash', '-t', 'a refund'])).stdout).service;
  expect(await ask()).toMatchObject({ calibrated: true, diagnostics: [{ temperature }] });
  // A fit on scaled answers undoes the scaling first.
  const again = await decide(['fit', 'test/fixtures/labelled.jsonl', '--json']);
  expect(JSON.parse(again.stdout)[0].temperature).toBeCloseTo(temperature, 3);
  await decide(['remove-fit', 'choice', 'sim/assistant']);
  expect(await ask()).toMatchObject({ calibrated: false });
});

test('an evaluation asks again after a refusal that passes', async () => {
  let refused = 0;
  const between = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    if (method === 'POST' && refused < 2) {
      refused += 1;
      const error = { code: 'rate_limited', message: 'Too many requests.' };
      outgoing.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      return;
    }
    const { authorization = '' } = headers;
    const init = { method, headers: { authorization, 'content-type': 'application/json' } };
    const answer = await fetch(daemon.url + url, { ...init, ...(method === 'POST' && { body }) });
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void between.close());
  const host = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const env = { GATEWAY_HOST: host, GATEWAY_KEY: daemon.login };
  const { code, stdout } = await decide(['eval', 'test/fixtures/labelled.jsonl'], { env });
  expect(code).toBe(exitCodes.done);
  expect(JSON.parse(stdout)).toMatchObject({ refused: 0 });
  expect(refused).toBe(2);
});

test('an evaluation reports scores, and writes the diagram', async () => {
  const svg = join(folder, 'reliability.svg');
  const args = ['eval', 'test/fixtures/labelled.jsonl', '--svg', svg];
  const { stdout } = await decide(args, { tty: { stdout: true } });
  expect(stdout).toMatch(
    /accuracy +[\d.]+ %[\s\S]+Confidence and right answers[\s\S]+If only confident answers/,
  );
  expect(await readFile(svg, 'utf8')).toMatch(/^<svg [\s\S]+<\/svg>\n$/);
  const broken = join(folder, 'broken.jsonl');
  await writeFile(broken, '{"input":"x","label":true}\n{"input":"x","label":"maybe"}\n');
  const failed = await decide(['eval', broken, 'Is it late?']);
  expect([failed.code, failed.stderr]).toEqual([
    exitCodes.usage,
    expect.stringContaining('broken.jsonl:2: `label`'),
  ]);
  for (const question of ['{"type":"foo"}', '{"type":"choice"}', '{"type":"score","levels":[null]}']) {
    await writeFile(broken, `{"input":"x","label":1,"question":${question}}\n`);
    const { code, stderr } = await decide(['eval', broken]);
    expect({ code, stderr }).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('broken.jsonl:1: `question` must'),
    });
  }
  const declined = await decide(['eval', 'test/fixtures/labelled.jsonl', '-m', 'sim/refuses']);
  expect([declined.code, declined.stderr]).toEqual([
    exitCodes.refused,
    expect.stringContaining('declined all examples'),
  ]);
  const lost = await decide(['eval', 'test/fixtures/labelled.jsonl', '--svg', join(folder, 'no', 'x.svg')]);
  expect([lost.code, lost.stdout, lost.stderr]).toEqual([
    exitCodes.usage,
    '',
    expect.stringMatching(/^error: The diagram cannot be saved. The folder of .*x\.svg does not exist\.\n$/),
  ]);
});
