import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/shared/contract/decisions.ts';
import { chatCompletion, type FakeDecider, optionsShown, startFakeDecider } from '../support/fake-decider.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/*
 * What the documentation promises about decisions in figures: limits, the influence of the order of options, and scores. The
 * figures are worked out here again, in another way than the program does.
 */

let fake: FakeDecider;
let daemon: RunningDaemon;
let folder: string;

beforeAll(async () => {
  [fake, folder] = await Promise.all([startFakeDecider(), mkdtemp(join(tmpdir(), 'gateway-test-'))]);
  daemon = await startDaemon({
    config: `upstreams: [{ name: free, base_url: '${fake.url}/v1', models: ['*'], prices: { input: '0', output: '0' } }]\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([fake.close(), rm(folder, { recursive: true })]);
});

async function post(body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${daemon.url}/v1/decisions`, {
    method: 'POST',
    // With a key, as the rate of an address is limited.
    headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.key}`, ...headers },
    body,
  });
  // biome-ignore lint/suspicious/noExplicitAny: the assertions state its shape.
  return { status: response.status, json: (await response.json()) as any };
}

const repeat = <T>(count: number, item: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => item(at));
const predicate = { type: 'predicate', instructions: 'Is it late?' };
const choice = (values: readonly unknown[]) => ({
  type: 'choice',
  instructions: 'Which?',
  choices: values.map((value) => ({ value })),
});
const score = (count: number) => ({
  type: 'score',
  instructions: 'How much?',
  levels: repeat(count, (at) => ({ label: `level ${at}` })),
});

describe('a limit', () => {
  /** A body whose size in some respect is `size`. */
  type Sized = (size: number) => { body?: object; text?: string; headers?: Record<string, string> };
  const asking = (question: object) => ({ body: { questions: [question] } });
  const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  /** A question whose JSON has so many bytes. */
  const questionOf = (size: number) => {
    const base = { ...predicate, instructions: '' };
    return { ...base, instructions: 'x'.repeat(size - jsonBytes(base)) };
  };
  const highest: [string, number, Sized, string][] = [
    [
      'questions',
      64,
      (size) => ({ body: { questions: repeat(size, () => predicate) } }),
      '400 too_many_questions questions',
    ],
    [
      'choices',
      255,
      (size) => asking(choice(repeat(size, (at) => `v${at}`))),
      '400 too_many_options questions[0].choices',
    ],
    ['levels', 10, (size) => asking(score(size)), '400 too_many_options questions[0].levels'],
    [
      'bytes of a name',
      64,
      (size) => asking({ ...predicate, name: 'n'.repeat(size) }),
      '400 invalid_request questions[0].name',
    ],
    [
      'bytes of a value',
      128,
      (size) => asking(choice(['a', 'v'.repeat(size)])),
      '400 invalid_request questions[0].choices[1].value',
    ],
    [
      'bytes of a model',
      128,
      (size) => ({ body: { model: `free/${'m'.repeat(size - 5)}` } }),
      '400 invalid_request model',
    ],
    ['bytes of a question', 32 * 1024, (size) => asking(questionOf(size)), '413 limit_exceeded questions[0]'],
    // The quotes count.
    [
      'bytes of the input',
      128 * 1024,
      (size) => ({ body: { input: 'x'.repeat(size - 2) } }),
      '413 limit_exceeded input',
    ],
    [
      'samples',
      9,
      (size) => ({ body: { service: { samples: size } } }),
      '400 invalid_request service.samples',
    ],
    [
      'milliseconds',
      60_000,
      (size) => ({ body: { service: { deadline_ms: size } } }),
      '400 invalid_request service.deadline_ms',
    ],
    [
      'characters of a key',
      128,
      (size) => ({ headers: { 'idempotency-key': 'k'.repeat(size) } }),
      '400 invalid_request Idempotency-Key',
    ],
    ['bytes of a body', 256 * 1024, (size) => ({ text: plain.padEnd(size) }), '413 limit_exceeded '],
  ];
  const lowest: [string, number, Sized, string][] = [
    [
      'questions',
      1,
      (size) => ({ body: { questions: repeat(size, () => predicate) } }),
      '400 invalid_request questions',
    ],
    [
      'choices',
      2,
      (size) => asking(choice(repeat(size, (at) => `v${at}`))),
      '400 invalid_request questions[0].choices',
    ],
    ['levels', 2, (size) => asking(score(size)), '400 invalid_request questions[0].levels'],
    [
      'bytes of a name',
      1,
      (size) => asking({ ...predicate, name: 'n'.repeat(size) }),
      '400 invalid_request questions[0].name',
    ],
    [
      'bytes of a value',
      1,
      (size) => asking(choice(['a', 'v'.repeat(size)])),
      '400 invalid_request questions[0].choices[1].value',
    ],
    [
      'characters of instructions',
      1,
      (size) => asking({ ...predicate, instructions: 'i'.repeat(size) }),
      '400 invalid_request questions[0].instructions',
    ],
    [
      'samples',
      1,
      (size) => ({ body: { service: { samples: size } } }),
      '400 invalid_request service.samples',
    ],
    [
      'milliseconds',
      1000,
      (size) => ({ body: { service: { deadline_ms: size } } }),
      '400 invalid_request service.deadline_ms',
    ],
  ];
  const base = { model: 'free/limits', input: 'x', questions: [predicate] };
  const plain = JSON.stringify(base);

  async function outcome(sized: Sized, size: number): Promise<string> {
    const { body, text = JSON.stringify({ ...base, ...body }), headers } = sized(size);
    const { status, json } = await post(text, headers);
    // A deadline of a second can be too short for the answer; the request itself is accepted.
    if (status === 200 || status === 503) return 'accepted';
    return [status, json.error.code, json.error.param].join(' ');
  }

  beforeAll(() => {
    fake.answer = blind;
  });

  test.each(highest)('of at most so many %s: %i', async (_, limit, sized, error) => {
    expect(await outcome(sized, limit - 1)).toBe('accepted');
    expect(await outcome(sized, limit)).toBe('accepted');
    expect(await outcome(sized, limit + 1)).toBe(error);
  });

  test.each(lowest)('of at least so many %s: %i', async (_, limit, sized, error) => {
    expect(await outcome(sized, limit + 1)).toBe('accepted');
    expect(await outcome(sized, limit)).toBe('accepted');
    expect(await outcome(sized, limit - 1)).toBe(error);
  });
});

/** Prefers letters by their position, and does not look at what they stand for. */
const blind: FakeDecider['answer'] = (request) => {
  if (request.path !== '/v1/chat/completions') return undefined;
  const letters = [...optionsShown(request).keys()];
  const weights = letters.map((_, at) => 1 / (at + 1) ** 1.5);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const position = letters.map((letter, at) => [letter, (0.95 * (weights[at] ?? 0)) / total]);
  return { json: chatCompletion('A', [Object.fromEntries(position)]) };
};

describe('a model that does not look at the content', () => {
  /** The probabilities of one question by option. */
  async function probabilitiesOf(question: object, model: string): Promise<Map<unknown, number>> {
    const { json } = await post(JSON.stringify({ model, input: 'x', questions: [question] }));
    const { answers, service } = json as Decision;
    expect(service.method).toBe('token_probabilities');
    const [answer] = answers;
    if (answer?.type === 'predicate') return new Map([[true, answer.probability]]);
    if (answer === undefined || !('probabilities' in answer)) throw new Error('no probabilities');
    return new Map(answer.probabilities.map(({ value, probability }) => [value, probability]));
  }

  test.each([3, 4, 7, 16, 40])('finds %i options equally probable, in any order', async (count) => {
    fake.answer = blind;
    const values = repeat(count, (at) => `option ${at}`);
    const model = `free/blind-${count}`;
    const forward = await probabilitiesOf(choice(values), model);
    const backward = await probabilitiesOf(choice(values.toReversed()), model);
    for (const value of values) {
      expect(Math.abs((forward.get(value) ?? 0) - 1 / count)).toBeLessThan(0.03);
      expect(Math.abs((forward.get(value) ?? 0) - (backward.get(value) ?? 0))).toBeLessThan(0.02);
    }
  });

  test('finds a statement as probable as not, and levels equally probable', async () => {
    fake.answer = blind;
    expect((await probabilitiesOf(predicate, 'free/blind')).get(true)).toBeCloseTo(0.5, 2);
    for (const each of (await probabilitiesOf(score(5), 'free/blind')).values())
      expect(Math.abs(each - 0.2)).toBeLessThan(0.03);
  });
});

test('the scores of an evaluation are those of the answers it got', async () => {
  // Words that the simulator compares, and labels that are right in two of three cases.
  const words = ['invoice', 'printer', 'meeting', 'holiday', 'password'];
  const labelled = repeat(90, (at) => {
    const word = words[at % words.length] as string;
    const input = `${word} ${words[(at * 3) % words.length]} ${word.repeat(at % 2)} note ${at}`;
    const right = at % 3 === 0 ? words[(at + 1) % words.length] : word;
    return at % 2 === 0
      ? { input, question: choice(words), label: right }
      : { input, question: { ...predicate, instructions: `It is about the ${word}.` }, label: at % 3 !== 0 };
  });
  const file = join(folder, 'labelled.jsonl');
  await writeFile(file, labelled.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const env = { GATEWAY_HOME: daemon.home };
  const { stdout } = await runCli(['decide', 'eval', file, '-m', 'sim/assistant', '--json'], { env });
  const scores = JSON.parse(stdout);

  let [nll, brier, hits] = [0, 0, 0];
  const bins = new Map<number, { confidences: number; hits: number }>();
  for (const { input, question, label } of labelled) {
    const { json } = await post(JSON.stringify({ model: 'sim/assistant', input, questions: [question] }));
    const [answer] = (json as Decision).answers;
    const options: [unknown, number][] =
      answer?.type === 'predicate'
        ? [
            [true, answer.probability],
            [false, 1 - answer.probability],
          ]
        : answer?.type === 'choice'
          ? answer.probabilities.map(({ value, probability }) => [value, probability])
          : [];
    let best: [unknown, number] = [undefined, -1];
    for (const [value, probability] of options) {
      if (value === label) nll -= Math.log(probability) / labelled.length;
      brier += (value === label ? (1 - probability) ** 2 : probability ** 2) / labelled.length;
      if (probability > best[1]) best = [value, probability];
    }
    const isHit = best[0] === label ? 1 : 0;
    hits += isHit;
    // Bins are open below and closed above.
    const place = Math.ceil(best[1] * 15 - 1e-9);
    const bin = bins.get(place) ?? { confidences: 0, hits: 0 };
    bins.set(place, { confidences: bin.confidences + best[1], hits: bin.hits + isHit });
  }
  const ece = [...bins.values()].reduce(
    (sum, bin) => sum + Math.abs(bin.hits - bin.confidences) / labelled.length,
    0,
  );
  expect(scores.examples).toBe(labelled.length);
  expect(scores.accuracy).toBeCloseTo(hits / labelled.length, 9);
  expect(scores.nll).toBeCloseTo(nll, 9);
  expect(scores.brier).toBeCloseTo(brier, 9);
  expect(scores.ece).toBeCloseTo(ece, 9);
  expect(bins.size).toBeGreaterThan(2);
});
