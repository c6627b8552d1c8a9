import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CreateDecision, Decision } from '../../../../src/shared/contract/decisions.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Answers, keys, openTui, type TestCall } from '../../../support/open-tui.ts';

/** Answers that depend on the model: `sure` is surer than others, and `refuses` declines. */
function decide({ model, questions }: CreateDecision): Decision {
  const wrong = questions.findIndex((each) => each.type === 'score' && each.levels.length < 2);
  if (wrong >= 0)
    throw new ApiError('invalid_request', {
      message: 'There must be 2 to 10 levels; there are 1.',
      param: `questions[${wrong}].levels`,
    });
  if (model === 'broken') throw new ApiError('unavailable', { message: 'No source can answer.' });
  const top = model === 'sure' ? 0.9 : 0.6;
  const shares = (count: number) => [top, ...Array<number>(count - 1).fill((1 - top) / (count - 1))];
  return {
    id: 'dec_1',
    object: 'decision',
    model: model === 'service/decide' ? 'kev' : model,
    answers: questions.map((question) => {
      const { type } = question;
      if (model === 'refuses') return { type: 'refusal', name: null };
      if (type === 'predicate') return { type, name: null, probability: top };
      if (type === 'choice') {
        const probabilities = shares(question.choices.length).map((probability, at) => ({
          value: question.choices[at]?.value ?? '',
          probability,
        }));
        return { type, name: null, choice: probabilities[0]?.value ?? '', confidence: top, probabilities };
      }
      const probabilities = shares(question.levels.length).map((probability, value) => ({
        value,
        probability,
        label: question.levels[value]?.label ?? '',
      }));
      return { type, name: null, score: 0.25, confidence: top, probabilities };
    }),
    usage: {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1,
    },
    service: {
      requested_model: model,
      answered_by: 'lab',
      method: 'token_probabilities',
      calibrated: false,
      latency_ms: 12,
      attempts: [],
      diagnostics: questions.map(() => ({ permutations: 3 })),
    },
  };
}

function openDecisions(options: { columns?: number; rows?: number; isPlain?: boolean } = {}) {
  const asked: CreateDecision[] = [];
  const answers: Answers = {
    'POST /v1/decisions': (call: TestCall) => {
      const body = call.body as CreateDecision;
      asked.push(body);
      return decide(body);
    },
  };
  const tui = openTui({ answers, ...options });
  tui.type('gd');
  /** Presses a key that opens a line, and submits the line; resolves once it is accepted or refused. */
  const submit = async (key: string, label: string, line: string) => {
    tui.type(key);
    await tui.shows(new RegExp(`^${label}: `, 'm'));
    tui.type(keys.ctrlU);
    tui.type(line);
    tui.type(keys.enter);
    await eventually(`the end of ${label}`, () => {
      const { dialog } = tui.state;
      return dialog === undefined || (dialog.kind === 'line' && dialog.error !== undefined);
    });
  };
  return { asked, submit, ...tui };
}

describe.each([
  [80, 24],
  [120, 40],
])('decisions on a terminal of %i × %i', (columns, rows) => {
  test('are asked of several models, and compared as bars side by side', async () => {
    const tui = openDecisions({ columns, rows });
    await tui.shows('No questions yet. Press e to enter a text');
    await tui.shows(/Models +service\/decide/);
    await tui.submit('e', 'input', 'I was charged twice!');
    await tui.shows('Press c to ask a question about it.');
    await tui.submit('c', 'ask', 'Which team? --choice billing,"tech support",sales');
    await tui.shows(/❯ Which team\? +█+░+ +60 % billing/);
    expect(tui.asked).toEqual([
      {
        model: 'service/decide',
        input: 'I was charged twice!',
        questions: [
          {
            type: 'choice',
            instructions: 'Which team?',
            choices: [{ value: 'billing' }, { value: '"tech support"' }, { value: 'sales' }],
          },
        ],
      },
    ]);
    await tui.submit('r', 'models', 'service/decide, sure');
    await tui.shows(/Which team\? .*60 % billing.*90 % billing/);
    // Those that have answered are not asked again.
    expect(tui.asked.map(({ model }) => model)).toEqual(['service/decide', 'sure']);
    expect(tui.lines()).toHaveLength(rows);
    tui.type(keys.enter);
    await tui.shows('Decisions › Which team?');
    await tui.shows(/service\/decide +sure/);
    await tui.shows(/billing +█+░+ +60 % +█+░* +90 %/);
    await tui.shows(/sales +█+░+ +20 % +█+░+ +5 %/);
    await tui.shows(/service\/decide: kev via lab · token probabilities · 12 ms · options in 3 orders/);
    await tui.shows('I was charged twice!');
  });

  test('show a model that cannot answer, with the reason', async () => {
    const tui = openDecisions({ columns, rows });
    await tui.submit('r', 'models', 'broken refuses');
    await tui.submit('e', 'input', 'x');
    await tui.submit('c', 'ask', 'Is it late?');
    await tui.shows(/Is it late\? +failed: unavailable +declined/);
    await tui.shows('1 of 2 models could not answer; Enter shows why.');
    tui.type(keys.enter);
    await tui.shows('broken: No source can answer.');
    // The page follows what its keys change.
    await tui.submit('r', 'models', 'sure');
    await tui.shows(/yes +█+░* +90 %/);
    await tui.shows(/^((?!No source can answer).)*$/s);
  });
});

test('an invalid question leaves the others their answers', async () => {
  const tui = openDecisions();
  await tui.submit('c', 'ask', 'Is it late?');
  await tui.submit('c', 'ask', 'How urgent? --levels low');
  await tui.submit('e', 'input', 'x');
  await tui.shows('The model could not answer; Enter shows why.');
  await tui.shows(/Is it late\? .*60 % yes/);
  await tui.shows(/How urgent\? +failed: invalid_request/);
});

test('a changed text asks all questions again, and a removed question is asked no more', async () => {
  const tui = openDecisions();
  await tui.submit('e', 'input', 'one');
  await tui.submit('c', 'ask', 'How urgent is it? --levels can wait,soon,today');
  await tui.shows(/60 % 0\.25 can/);
  await tui.submit('c', 'ask', 'Is it late?');
  await tui.shows('60 % yes');
  await tui.submit('e', 'input', 'two');
  await tui.shows(/Input +two/);
  await tui.shows(/60 % 0\.25 can/);
  const levels = expect.objectContaining({ type: 'score' });
  const predicate = { type: 'predicate', instructions: 'Is it late?' };
  expect(tui.asked.map(({ input, questions }) => [input, questions])).toEqual([
    ['one', [levels]],
    ['one', [predicate]],
    ['two', [levels, predicate]],
  ]);
  tui.type(keys.ctrlD);
  await tui.shows('Remove this question?');
  tui.type('y');
  await tui.shows('Decisions · 1');
  // Submitting the same text asks again.
  tui.type('e');
  await tui.shows('input: two');
  tui.type(keys.enter);
  await tui.shows('Answered.');
  expect(tui.asked.at(-1)).toMatchObject({ input: 'two', questions: [predicate] });
});

test('a file is read with its line breaks, and one that is missing is an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'mail.txt'), 'Hello,\nwhere is it?');
  const tui = openDecisions();
  await tui.submit('c', 'ask', 'Is it late?');
  await tui.shows('Press e to enter the text that the questions are about.');
  await tui.submit('e', 'input', `@${folder}/none.txt`);
  await tui.shows('cannot be read. Start a text with');
  tui.type(keys.ctrlU);
  tui.type(`@${folder}/mail.txt`);
  tui.type(keys.enter);
  await tui.shows(/Input +Hello, where is it\?/);
  await tui.shows('60 % yes');
  tui.type('e');
  await tui.shows('input: Hello, where is it?');
  tui.type(keys.enter);
  await tui.shows('Answered.');
  expect(tui.asked.map(({ input }) => input)).toEqual(['Hello,\nwhere is it?', 'Hello,\nwhere is it?']);
});

test('a flag that is unknown or has no options is an error that says what is expected', async () => {
  const tui = openDecisions();
  await tui.submit('c', 'ask', 'Which? --options a,b');
  await tui.shows('--options cannot be used here; expected --choice or --levels.');
  tui.type(keys.ctrlU);
  tui.type('Which? --choice');
  tui.type(keys.enter);
  await tui.shows('--choice needs options: --choice low,mid,high');
  tui.type(keys.ctrlU);
  tui.type(keys.enter);
  await tui.shows('No question was asked.');
  expect(tui.asked).toEqual([]);
});

test('a question is copied as a command, and shown without bars to screen readers', async () => {
  const tui = openDecisions({ isPlain: true });
  await tui.submit('e', 'input', "It's late");
  await tui.submit('c', 'ask', 'Which? --choice a,b');
  await tui.shows(/Which\? +60 % a/);
  expect(tui.frame()).not.toContain('█');
  tui.type('Y');
  await tui.shows('Copied');
  expect(tui.copied).toEqual([
    `gateway decide 'Which?' --choice a --choice b --model service/decide --text 'It'\\''s late'`,
  ]);
});
