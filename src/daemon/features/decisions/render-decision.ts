import type {
  Decision,
  DecisionAnswer,
  DecisionService,
  SystemOneResult,
} from '../../../shared/contract/decisions.ts';
import type { Tokens } from '../../../shared/money/money.ts';
import type { SourceAnswer } from './decision-source.ts';
import { expectedIndex, topOf } from './distribution.ts';
import type { Question, QuestionAnswer } from './question.ts';

/** A finished decision, before it is written in a format. */
export interface Decided {
  id: string;
  questions: readonly Question[];
  answer: SourceAnswer;
  service: Omit<DecisionService, 'diagnostics' | 'method'>;
}

/** The answer of `POST /v1/decisions`. */
export function renderDecision({ id, questions, answer, service }: Decided): Decision {
  return {
    id,
    object: 'decision',
    model: answer.model,
    answers: questions.map((question, at) => answerOf(question, answer.answers[at])),
    usage: usageOf(answer.tokens),
    service: serviceOf(answer, service),
  };
}

/** The answer of `POST /v1/systemone`. */
export function renderSystemOne({ questions, answer, service }: Decided): SystemOneResult {
  const { input, output } = answer.tokens;
  return {
    model: answer.model,
    answers: Object.fromEntries(
      questions.map((question, at) => [
        question.name ?? String(at),
        systemOneAnswer(question, answer.answers[at]),
      ]),
    ),
    usage: { input_tokens: input, output_tokens: output },
    latency_ms: service.latency_ms,
    service: serviceOf(answer, service),
  };
}

function serviceOf({ method, answers }: SourceAnswer, service: Decided['service']): DecisionService {
  const { requested_model, answered_by, calibrated, latency_ms, attempts } = service;
  const diagnostics = answers.map((each) => each.diagnostics);
  return { requested_model, answered_by, method, calibrated, latency_ms, attempts, diagnostics };
}

function answerOf({ type, name, options }: Question, answer: QuestionAnswer | undefined): DecisionAnswer {
  if (answer === undefined || 'refused' in answer) return { type: 'refusal', name };
  const { probabilities } = answer;
  if (type === 'predicate') return { type, name, probability: probabilities[0] ?? 0 };
  const confidence = Math.max(...probabilities);
  if (type === 'choice') {
    const values = options.map(({ value }) => value as string | boolean);
    return {
      type,
      name,
      choice: values[topOf(probabilities)] ?? '',
      confidence,
      probabilities: values.map((value, at) => ({ value, probability: probabilities[at] ?? 0 })),
    };
  }
  return {
    type,
    name,
    score: expectedIndex(probabilities),
    confidence,
    probabilities: options.map(({ label }, at) => ({
      value: at,
      label,
      probability: probabilities[at] ?? 0,
    })),
  };
}

function systemOneAnswer(
  question: Question,
  answer: QuestionAnswer | undefined,
): SystemOneResult['answers'][string] {
  const { options, type } = question;
  if (answer === undefined || 'refused' in answer) return { type: 'refusal' };
  const { probabilities } = answer;
  if (type === 'predicate') return { type: 'noul', noul: probabilities[0] ?? 0 };
  const confidence = Math.max(...probabilities);
  const entries = options.map(({ value }, at) => [String(value), probabilities[at] ?? 0] as const);
  if (type === 'choice') {
    const choice = String(options[topOf(probabilities)]?.value);
    return { type, choice, confidence, probabilities: Object.fromEntries(entries) };
  }
  const legend = options.map(({ label }) => label);
  const score = expectedIndex(probabilities);
  return { type, score, confidence, legend, probabilities: Object.fromEntries(entries) };
}

function usageOf({ input, cachedInput, cacheWrite, output, reasoning }: Tokens): Decision['usage'] {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedInput, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
