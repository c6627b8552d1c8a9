import type { Tokens } from '../../../shared/money/money.ts';
import type { DecisionRequest, NativeAnswer, Option, Question } from '../../features/decisions/index.ts';
import { countOf, isObject, type Json, objectOf, objectsOf, textOf } from '../json.ts';

/** How a decision endpoint writes requests and answers. */
export interface DecisionFormat {
  body(request: DecisionRequest, model: string): Json;
  /** The answers in the order of the questions; those in another shape are undefined. None if their number differs. */
  read(answer: Json, request: DecisionRequest): NativeAnswer;
}

/** OpenAI's Decisions API. Source: OpenAI's API reference, `POST /v1/decisions`. */
export const openAiDecisions: DecisionFormat = {
  body: ({ input, questions }, model) => ({ model, input, questions: questions.map(openAiQuestion) }),
  read(answer, { questions }) {
    const answers = objectsOf(answer.answers);
    const isComplete = answers.length === questions.length;
    return {
      model: textOf(answer.model),
      answers: isComplete ? questions.map((question, at) => openAiAnswer(question, answers[at])) : [],
      tokens: tokensIn(answer.usage),
      calibrated: isCalibrated(answer),
    };
  },
};

/** Another gateway says so in its extension member. */
function isCalibrated({ service }: Json): boolean {
  return objectOf(service)?.calibrated === true;
}

function openAiQuestion({ type, instructions, options }: Question): Json {
  if (type === 'predicate') return { type, instructions: withConditions(instructions, options) };
  if (type === 'choice') {
    return {
      type,
      instructions,
      choices: options.map(({ value, description }) => ({ value, description })),
    };
  }
  return { type, instructions, levels: options.map(({ label, description }) => ({ label, description })) };
}

/** The format has no field for when a predicate is true or false. */
function withConditions(instructions: string, options: readonly Option[]): string {
  const conditions = options.flatMap(({ label, description }) =>
    description === undefined ? [] : [`${label}: ${description}`],
  );
  return [instructions, ...conditions].join('\n');
}

function openAiAnswer(
  { type, options }: Question,
  answer: Json | undefined,
): NativeAnswer['answers'][number] {
  if (answer?.type === 'refusal') return 'refused';
  if (answer?.type !== type) return undefined;
  if (type === 'predicate') return yesAndNo(answer.probability);
  const listed = objectsOf(answer.probabilities);
  if (listed.length !== options.length) return undefined;
  return options.map(({ value }) => numberIn(listed.find((each) => each.value === value)?.probability));
}

/**
 * System One, as served by TypeSafe, Ollama, llama.cpp, LocalAI and Fireworks: a map of questions, with `noul` for
 * predicates.
 */
export const systemOne: DecisionFormat = {
  body: ({ input, questions }, model) => ({
    model,
    state: input,
    questions: Object.fromEntries(questions.map((question, at) => [`q${at}`, systemOneQuestion(question)])),
  }),
  read(answer, { questions }) {
    const answers = objectOf(answer.answers) ?? {};
    return {
      model: textOf(answer.model),
      answers: questions.map((question, at) => systemOneAnswer(question, objectOf(answers[`q${at}`]))),
      tokens: tokensIn(answer.usage),
      calibrated: isCalibrated(answer),
    };
  },
};

function systemOneQuestion({ type, instructions, options }: Question): Json {
  if (type === 'predicate') {
    const [yes, no] = options;
    const criteria = { true: yes?.description ?? null, false: no?.description ?? null };
    return { type: 'noul', instructions, ...((criteria.true || criteria.false) && { criteria }) };
  }
  if (type === 'choice') {
    const ids = choiceIds(options);
    const criteria = options.map(({ description }, at) => [ids[at], description ?? null] as const);
    return { type, instructions, criteria: Object.fromEntries(criteria) };
  }
  const levels = options.map(({ label, description }) =>
    description === undefined ? label : `${label}: ${description}`,
  );
  return { type, instructions, criteria: levels };
}

function systemOneAnswer(
  { type, options }: Question,
  answer: Json | undefined,
): NativeAnswer['answers'][number] {
  if (answer?.type === 'refusal') return 'refused';
  if (answer === undefined) return undefined;
  // node-llama-cpp names it `value`.
  if (type === 'predicate') return yesAndNo(answer.noul ?? answer.value);
  if (answer.type !== type || !isObject(answer.probabilities)) return undefined;
  const { probabilities } = answer;
  if (Object.keys(probabilities).length !== options.length) return undefined;
  const ids = type === 'choice' ? choiceIds(options) : options.map((_, at) => String(at));
  return ids.map((id) => (Object.hasOwn(probabilities, id) ? numberIn(probabilities[id]) : Number.NaN));
}

/** The values as ids; a string and a boolean with the same text get different ones. */
function choiceIds(options: readonly Option[]): string[] {
  const taken = new Set(options.flatMap(({ value }) => (typeof value === 'string' ? [value] : [])));
  return options.map(({ value }) => {
    let id = String(value);
    if (typeof value !== 'string') while (taken.has(id)) id += ' (boolean)';
    return id;
  });
}

function yesAndNo(value: unknown): readonly number[] | undefined {
  return typeof value === 'number' ? [value, 1 - value] : undefined;
}

/** Not a number, which fails verification, for anything else. */
function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function tokensIn(usage: unknown): Tokens {
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = objectOf(usage) ?? {};
  const input = objectOf(input_tokens_details) ?? {};
  return {
    input: countOf(input_tokens) ?? 0,
    cachedInput: countOf(input.cached_tokens) ?? 0,
    cacheWrite: countOf(input.cache_write_tokens) ?? 0,
    output: countOf(output_tokens) ?? 0,
    reasoning: countOf(objectOf(output_tokens_details)?.reasoning_tokens) ?? 0,
  };
}
