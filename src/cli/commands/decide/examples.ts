import { randomUUID } from 'node:crypto';
import type { CreateDecision, Decision, DecisionAnswer } from '../../../shared/contract/decisions.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { progressBar } from '../../output/progress.ts';
import { decidePatiently } from './batch.ts';
import { textOfFile } from './files.ts';
import type { Question } from './questions.ts';

/** A labelled example: an input, a question, and which of its options is right. */
export interface Example {
  input: CreateDecision['input'];
  question: Question;
  /** The index of the right option; of a predicate, 0 is true. */
  right: number;
}

/** A model's answer to an example. */
export interface Answered {
  model: string;
  type: Question['type'];
  /** Of each option, before any fitted temperature. */
  raw: number[];
  /** As answered. */
  probabilities: number[];
  right: number;
}

/**
 * Reads examples, one JSON object per line: `{"input", "question", "label"}`. The question may be left out where the command
 * line asks one. A label is true or false, a choice, or a level by its label or number.
 */
export function readExamples(file: string, asked: Question | undefined): Example[] {
  const faultAt = (at: number) => (message: string) => usageError(`${file}:${at + 1}: ${message}`);
  const lines = textOfFile(file).split('\n');
  const examples = lines.flatMap((line, at) =>
    line.trim() === '' ? [] : exampleIn(line, asked, faultAt(at)),
  );
  if (examples.length === 0) throw usageError(`${file} has no examples.`);
  return examples;
}

function exampleIn(line: string, asked: Question | undefined, fault: (message: string) => CliError): Example {
  let json: { input?: unknown; question?: Question; label?: unknown };
  try {
    json = JSON.parse(line);
  } catch {
    throw fault('this is not JSON');
  }
  const { input, question = asked, label } = json ?? {};
  if (typeof input !== 'string' && !Array.isArray(input)) throw fault('`input` must be a text');
  if (typeof question !== 'object' || question === null)
    throw fault('`question` is required, or a question on the command line');
  if (!hasOptions(question))
    throw fault('`question` must be a predicate, a choice with `choices`, or a score with `levels`');
  const right = indexOfLabel(label, question);
  if (right < 0) throw fault('`label` is none of the options of the question');
  return { input: input as CreateDecision['input'], question, right };
}

function hasOptions(question: Question): boolean {
  if (question.type === 'predicate') return true;
  const { choices, levels } = question as { choices?: unknown; levels?: unknown };
  const options = question.type === 'choice' ? choices : question.type === 'score' ? levels : undefined;
  return Array.isArray(options) && options.every(isObject);
}

function indexOfLabel(label: unknown, question: Question): number {
  if (question.type === 'predicate') return [true, false].indexOf(label as boolean);
  if (question.type === 'choice') return question.choices.findIndex(({ value }) => value === label);
  const byLabel = question.levels.findIndex((level) => level.label === label);
  if (byLabel >= 0 || !Number.isInteger(label)) return byLabel;
  return (label as number) < question.levels.length ? (label as number) : -1;
}

interface AskOptions {
  model: string;
  concurrency: number;
}

/** Asks all examples, several at a time; `refused` counts those that the model declined. */
export async function askExamples(
  context: Context,
  examples: readonly Example[],
  { model, concurrency }: AskOptions,
): Promise<{ answered: Answered[]; refused: number }> {
  const failure = new AbortController();
  const signal = AbortSignal.any([context.interrupted(), failure.signal]);
  const run = randomUUID();
  const found: (Answered | undefined)[] = [];
  const progress = progressBar(context.io);
  const queue = examples.entries();
  let done = 0;
  const work = async () => {
    for (const [at, { input, question, right }] of queue) {
      const body = { model, input, questions: [question] };
      const decision = await decidePatiently(
        context,
        { headers: { 'Idempotency-Key': `${run}-${at}` }, body },
        signal,
      );
      found[at] = answeredBy(decision, question.type, right);
      done += 1;
      if (!context.out.isQuiet())
        progress.show('Asking', done, examples.length, `${examples.length} examples`);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, examples.length) }, work));
  } finally {
    // After one that failed, no other is asked.
    failure.abort();
    progress.stop();
  }
  const answered = found.filter((each) => each !== undefined);
  if (answered.length === 0)
    throw new CliError('The model declined all examples.', { exit: exitCodes.refused });
  return { answered, refused: examples.length - answered.length };
}

function answeredBy(
  { model, answers: [answer], service }: Decision,
  type: Question['type'],
  right: number,
): Answered | undefined {
  const probabilities = probabilitiesIn(answer);
  if (probabilities === undefined) return undefined;
  const temperature = service.diagnostics[0]?.temperature ?? 1;
  return { model, type, right, probabilities, raw: powered(probabilities, temperature) };
}

function probabilitiesIn(answer: DecisionAnswer | undefined): number[] | undefined {
  if (answer === undefined || answer.type === 'refusal') return undefined;
  if (answer.type === 'predicate') return [answer.probability, 1 - answer.probability];
  return answer.probabilities.map(({ probability }) => probability);
}

/** The distribution with each probability raised to a power, and scaled to 1. */
export function powered(probabilities: readonly number[], power: number): number[] {
  const logs = probabilities.map((each) => Math.log(Math.max(each, 1e-12)) * power);
  const highest = Math.max(...logs);
  const weights = logs.map((log) => Math.exp(log - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
