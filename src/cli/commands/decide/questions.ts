import type { CreateDecision } from '../../../shared/contract/decisions.ts';
import { usageError } from '../../failures/cli-error.ts';
import { textOfFile } from './files.ts';

export type Question = CreateDecision['questions'][number];

/** The flags that describe a question; without any it is a predicate. */
export interface QuestionFlags {
  predicate?: true | undefined;
  choice?: string[] | undefined;
  levels?: string[] | undefined;
  questions?: string | undefined;
}

/** What says how one question is answered. */
export const questionFlags = ['--predicate', '--choice', '--levels'];

/** The questions of a command line: one from its flags, or all in a file. */
export function questionsOf(instructions: string | undefined, flags: QuestionFlags): Question[] {
  const { predicate, choice, levels, questions } = flags;
  const given = [predicate, choice, levels, questions].filter((flag) => flag !== undefined).length;
  if (given > 1) throw usageError('Only one of --predicate, --choice, --levels and --questions can be used.');
  if (questions !== undefined) {
    if (instructions !== undefined) throw usageError('--questions cannot be combined with a question.');
    return questionsIn(questions);
  }
  if (instructions === undefined || instructions.trim() === '') {
    throw usageError(
      'No question was asked.',
      'For example: gateway decide "Is this a complaint?" < mail.txt',
    );
  }
  if (choice) {
    return [{ type: 'choice', instructions, choices: choice.map((text) => described(text, 'value')) }];
  }
  if (levels)
    return [{ type: 'score', instructions, levels: levels.map((text) => described(text, 'label')) }];
  return [{ type: 'predicate', instructions }];
}

/** `billing: charges, refunds` is an option with a description. */
function described<const Name extends 'value' | 'label'>(text: string, name: Name) {
  const [, label = text, description] = /^(.*?): +(.+)$/s.exec(text) ?? [];
  return { [name]: label.trim(), ...(description !== undefined && { description }) } as {
    [key in Name]: string;
  } & { description?: string };
}

/** Splits `a,b,c`; several flags add up, and text with a description is not split. */
export function collectOptions(text: string, before: string[] = []): string[] {
  const options = /: /.test(text) ? [text] : text.split(',');
  return [...before, ...options.map((option) => option.trim()).filter((option) => option !== '')];
}

function questionsIn(file: string): Question[] {
  const text = textOfFile(file);
  try {
    const value: unknown = JSON.parse(text);
    const questions = Array.isArray(value) ? value : (value as { questions?: unknown } | null)?.questions;
    // The daemon checks each of them.
    if (Array.isArray(questions) && questions.length > 0) return questions as Question[];
  } catch {}
  throw usageError(
    `${file} is not a JSON array of questions.`,
    'See docs/typed-decisions.md for their format.',
  );
}
