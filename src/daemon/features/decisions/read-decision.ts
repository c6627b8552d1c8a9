import {
  type CreateDecision,
  type CreateSystemOne,
  decisionLimits,
} from '../../../shared/contract/decisions.ts';
import { ApiError, type ErrorCode } from '../../../shared/errors.ts';
import { type DecisionRequest, type Option, type Question, yesOrNo } from './question.ts';

/** The bounds that the host can set. */
export interface ReadSettings {
  questionsMax: number;
}

/** Bytes of a value as JSON in UTF-8. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function fault(code: ErrorCode, param: string, message: string): ApiError {
  return new ApiError(code, { param, message });
}

/** Reads the body of `POST /v1/decisions`, whose shape is valid. Fails where a size or name is not. */
export function readDecision(body: CreateDecision, settings: ReadSettings): DecisionRequest {
  checkCommon(
    body.model,
    { questions: body.questions.length, input: body.input, inputParam: 'input' },
    settings,
  );
  const names = new Set<string>();
  const questions = body.questions.map((question, at): Question => {
    const param = `questions[${at}]`;
    checkQuestionSize(question, param);
    const { name, instructions, type } = question;
    if (name !== undefined) {
      checkBytes(name, decisionLimits.nameBytes, `${param}.name`);
      if (names.has(name))
        throw fault('invalid_request', `${param}.name`, 'Names must be unique in a request.');
      names.add(name);
    }
    const common = { type, name: name ?? null, instructions };
    if (question.type === 'predicate') return { ...common, options: yesOrNo() };
    if (question.type === 'choice')
      return { ...common, options: choicesIn(question.choices, `${param}.choices`) };
    return { ...common, options: levelsIn(question.levels, `${param}.levels`) };
  });
  return { input: textOf(body.input), questions };
}

/** Reads the body of `POST /v1/systemone`; the ids of the questions become their names. */
export function readSystemOne(body: CreateSystemOne, settings: ReadSettings): DecisionRequest {
  const { model, state } = body;
  const asked = Object.entries(body.questions);
  checkCommon(model, { questions: asked.length, input: state, inputParam: 'state' }, settings);
  if (typeof state !== 'string' && depthOf(state) > decisionLimits.stateDepth) {
    throw fault(
      'limit_exceeded',
      'state',
      `It is nested more than ${decisionLimits.stateDepth} levels deep.`,
    );
  }
  const questions = asked.map(([id, question]): Question => {
    const param = memberOf('questions', id);
    checkBytes(id, decisionLimits.nameBytes, param);
    checkQuestionSize(question, param);
    const { instructions } = question;
    const common = { name: id, instructions };
    if (question.type === 'noul') {
      return { ...common, type: 'predicate', options: yesOrNo(question.criteria ?? {}) };
    }
    const criteria = `${param}.criteria`;
    if (question.type === 'choice') {
      const choices = Object.entries(question.criteria).map(([value, description]) => ({
        value,
        ...(description !== null && { description }),
      }));
      const nameOf = (at: number) => memberOf(criteria, choices[at]?.value ?? '');
      return { ...common, type: 'choice', options: choicesIn(choices, criteria, nameOf) };
    }
    const levels = question.criteria.map((label) => ({ label }));
    return { ...common, type: 'score', options: levelsIn(levels, criteria, (at) => `${criteria}[${at}]`) };
  });
  return { input: typeof state === 'string' ? state : JSON.stringify(state), questions };
}

interface Sizes {
  questions: number;
  input: unknown;
  inputParam: string;
}

function checkCommon(
  model: string,
  { questions, input, inputParam }: Sizes,
  { questionsMax }: ReadSettings,
): void {
  checkBytes(model, decisionLimits.modelBytes, 'model');
  if (questions > questionsMax) {
    const message = `A request has at most ${questionsMax} questions; this one has ${questions}.`;
    throw fault('too_many_questions', 'questions', message);
  }
  const bytes = jsonBytes(input);
  if (bytes > decisionLimits.inputBytes) {
    const message = `It must not exceed ${decisionLimits.inputBytes} bytes of JSON; it has ${bytes}.`;
    throw fault('limit_exceeded', inputParam, message);
  }
}

function checkQuestionSize(question: unknown, param: string): void {
  const bytes = jsonBytes(question);
  if (bytes <= decisionLimits.questionBytes) return;
  const message = `A question must not exceed ${decisionLimits.questionBytes} bytes of JSON; this one has ${bytes}.`;
  throw fault('limit_exceeded', param, message);
}

function checkBytes(text: string, bytesMax: number, param: string): void {
  if (Buffer.byteLength(text) <= bytesMax) return;
  throw fault('invalid_request', param, `It must not exceed ${bytesMax} bytes of UTF-8.`);
}

interface Choice {
  value: string | boolean;
  description?: string;
}

function choicesIn(
  choices: readonly Choice[],
  param: string,
  nameOf = (at: number) => `${param}[${at}].value`,
): Option[] {
  checkCount(choices, { most: decisionLimits.choices, noun: 'choices' }, param);
  const seen = new Set<string | boolean>();
  return choices.map(({ value, description }, at) => {
    checkBytes(String(value), decisionLimits.valueBytes, nameOf(at));
    if (seen.has(value)) throw fault('invalid_request', nameOf(at), 'The choices must be different.');
    seen.add(value);
    return { value, label: String(value), description };
  });
}

function levelsIn(
  levels: readonly { label: string; description?: string }[],
  param: string,
  nameOf = (at: number) => `${param}[${at}].label`,
): Option[] {
  checkCount(levels, { most: decisionLimits.levels, noun: 'levels' }, param);
  const seen = new Set<string>();
  return levels.map(({ label, description }, at) => {
    if (seen.has(label)) throw fault('invalid_request', nameOf(at), 'The levels must be different.');
    seen.add(label);
    return { value: at, label, description };
  });
}

function checkCount(
  { length }: readonly unknown[],
  { most, noun }: { most: number; noun: string },
  param: string,
): void {
  if (length > most)
    throw fault('too_many_options', param, `There must be at most ${most} ${noun}; there are ${length}.`);
}

/** The text of the messages. Images need an engine that reads them. */
function textOf(input: CreateDecision['input']): string {
  if (typeof input === 'string') return input;
  return input
    .map(({ content }, message) => {
      if (typeof content === 'string') return content;
      return content
        .map((part, at) => {
          if (part.type === 'input_text') return part.text;
          const param = `input[${message}].content[${at}]`;
          throw fault('invalid_request', param, 'Images are not supported by the models of this host.');
        })
        .join('\n');
    })
    .join('\n\n');
}

/** How the name of a field continues with a key that the caller chose. */
function memberOf(param: string, key: string): string {
  return /^[\w-]{1,64}$/.test(key) ? `${param}.${key}` : `${param}[${JSON.stringify(key.slice(0, 64))}]`;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, member) => Math.max(most, depthOf(member)), 0);
}
