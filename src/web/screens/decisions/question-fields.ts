import type { createDecision } from '../../../shared/contract/decisions.ts';
import type { Input } from '../../../shared/contract/endpoint.ts';
import { type Field, linesOf } from '../../parts/field-types.ts';

export type QuestionField = 'input' | 'type' | 'instructions' | 'options' | 'models';

type Question = Input<typeof createDecision>['body']['questions'][number];

const optionTexts = {
  choice: { label: 'Choices', value: 'billing\noutage\nother' },
  score: { label: 'Levels, lowest first', value: 'calm\nannoyed\nangry' },
};

/** Fields of a decision: the evidence, a question about it, and which models answer. */
export function questionFields({ type = 'choice' }: { type?: string }): Field<QuestionField>[] {
  const options = type === 'score' ? optionTexts.score : optionTexts.choice;
  return [
    {
      name: 'input',
      label: 'Evidence',
      kind: 'lines',
      isRequired: true,
      value: 'I was charged twice for my subscription this month, and the invoice is wrong.',
    },
    {
      name: 'type',
      label: 'Kind of question',
      kind: 'choice',
      value: 'choice',
      options: [
        { value: 'choice', title: 'Which choice applies?' },
        { value: 'predicate', title: 'Is a statement true?' },
        { value: 'score', title: 'Which level applies?' },
      ],
      isHalf: true,
    },
    {
      name: 'instructions',
      label: 'Question',
      isRequired: true,
      value: 'What is this message about?',
      isHalf: true,
    },
    ...(type === 'predicate'
      ? []
      : [
          { name: 'options' as const, kind: 'lines' as const, hint: 'One a line.', isHalf: true, ...options },
        ]),
    {
      name: 'models',
      label: 'Models',
      kind: 'lines',
      value: 'service/decide',
      hint: 'One a line; several are compared.',
      isHalf: true,
    },
  ];
}

/** The question that the fields ask. */
export function questionIn(values: Readonly<Partial<Record<QuestionField, string>>>): Question {
  const { type, instructions = '', options = '' } = values;
  const lines = linesOf(options);
  if (type === 'predicate') return { type, instructions };
  if (type === 'score') return { type, instructions, levels: lines.map((label) => ({ label })) };
  return { type: 'choice', instructions, choices: lines.map((value) => ({ value })) };
}

/** The models that are asked, at most four, each once. */
export function modelsIn(text: string | undefined): string[] {
  return [...new Set(linesOf(text ?? ''))].slice(0, 4);
}
