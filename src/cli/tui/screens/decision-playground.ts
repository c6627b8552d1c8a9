import type { Decision, DecisionAnswer } from '../../../shared/contract/decisions.ts';
import { createDecision } from '../../../shared/endpoints.ts';
import { ApiError } from '../../../shared/errors.ts';
import { collectOptions, type Question, questionsOf } from '../../commands/decide/questions.ts';
import type { Services } from '../services/services.ts';

/** One model's answer to a question. */
export type Outcome =
  | { state: 'asking' }
  | { state: 'answered'; decision: Decision; answer: DecisionAnswer; at: number }
  | { state: 'failed'; code: string; message: string };

/** A question with its answers by model. */
export interface AskedQuestion {
  id: string;
  question: Question;
  outcomes: ReadonlyMap<string, Outcome>;
}

/**
 * Questions about one input for several models, whose answers are compared. Lives as long as the program: the daemon stores
 * no decisions.
 */
export class DecisionPlayground {
  #input = '';
  #models: readonly string[];
  #rows: AskedQuestion[] = [];
  #count = 0;

  constructor(models: readonly string[]) {
    this.#models = models;
  }

  get input(): string {
    return this.#input;
  }

  get models(): readonly string[] {
    return this.#models;
  }

  /** In the order in which they were asked. */
  get rows(): AskedQuestion[] {
    return this.#rows;
  }

  /** Asks all questions about another input, or again about the same one. Resolves to a notice. */
  async setInput(input: string, services: Services): Promise<string> {
    this.#input = input;
    this.#rows = this.#rows.map((row) => ({ ...row, outcomes: new Map() }));
    return await this.#askMissing(services);
  }

  /** Asks models that have not answered yet. Resolves to a notice. */
  async setModels(models: readonly string[], services: Services): Promise<string> {
    this.#models = models;
    return await this.#askMissing(services);
  }

  /** Resolves to a notice. */
  async add(question: Question, services: Services): Promise<string> {
    this.#count += 1;
    this.#rows = [...this.#rows, { id: String(this.#count), question, outcomes: new Map() }];
    return await this.#askMissing(services);
  }

  remove(removed: readonly Pick<AskedQuestion, 'id'>[]): void {
    const ids = new Set(removed.map(({ id }) => id));
    this.#rows = this.#rows.filter(({ id }) => !ids.has(id));
  }

  async #askMissing(services: Services): Promise<string> {
    if (this.#input === '') return 'Press e to enter the text that the questions are about.';
    if (this.#rows.length === 0) return 'Press c to ask a question about it.';
    const input = this.#input;
    const failed = await Promise.all(
      this.#models.map(async (model) => {
        const missing = this.#rows.filter(({ outcomes }) => outcomes.get(model)?.state !== 'answered');
        return missing.length > 0 && !(await this.#ask(model, input, missing, services));
      }),
    );
    const count = failed.filter(Boolean).length;
    if (count === 0) return this.#models.length === 1 ? 'Answered.' : 'All models have answered.';
    const whole = this.#models.length === 1 ? 'The model' : `${count} of ${this.#models.length} models`;
    return `${whole} could not answer; Enter shows why.`;
  }

  /** Asks all at once, or each alone if one of them is invalid. Resolves to whether all were answered. */
  async #ask(
    model: string,
    input: string,
    asked: readonly AskedQuestion[],
    services: Services,
  ): Promise<boolean> {
    this.#note(asked, model, input, () => ({ state: 'asking' }));
    try {
      const questions = asked.map(({ question }) => question);
      const decision = await services.client.call(createDecision, {
        headers: {},
        body: { model, input, questions },
      });
      this.#note(asked, model, input, (at) => {
        const answer = decision.answers[at] ?? { type: 'refusal', name: null };
        return { state: 'answered', decision, answer, at };
      });
      return true;
    } catch (error) {
      if (asked.length > 1 && isAboutQuestions(error)) {
        const each = await Promise.all(asked.map((row) => this.#ask(model, input, [row], services)));
        return each.every(Boolean);
      }
      const { message } = error as Error;
      const code = error instanceof ApiError ? error.code : 'error';
      this.#note(asked, model, input, () => ({ state: 'failed', code, message }));
      return false;
    }
  }

  /** Answers about an earlier input are dropped. */
  #note(
    asked: readonly AskedQuestion[],
    model: string,
    input: string,
    outcomeAt: (at: number) => Outcome,
  ): void {
    if (input !== this.#input) return;
    const places = new Map(asked.map(({ id }, at) => [id, at]));
    this.#rows = this.#rows.map((row) => {
      const at = places.get(row.id);
      if (at === undefined) return row;
      return { ...row, outcomes: new Map([...row.outcomes, [model, outcomeAt(at)]]) };
    });
  }
}

/** Whether a request was refused for its questions, of which others may be valid. */
function isAboutQuestions(error: unknown): boolean {
  return error instanceof ApiError && (error.param?.startsWith('questions') ?? false);
}

/** Parses a question with the flags of `gateway decide`: `Which team? --choice billing,tech`. */
export function parseQuestion(line: string): Question {
  const [instructions = '', ...rest] = line.trim().split(/(?:^|\s)--([a-z-]+)(?:\s|$)/);
  const flags: { choice?: string[]; levels?: string[] } = {};
  for (let at = 0; at < rest.length; at += 2) {
    const name = rest[at];
    if (name !== 'choice' && name !== 'levels')
      throw new Error(`--${name} cannot be used here; expected --choice or --levels.`);
    const options = collectOptions(unquoted(rest[at + 1] ?? ''), flags[name]);
    if (options.length === 0) throw new Error(`--${name} needs options: --${name} low,mid,high`);
    flags[name] = options;
  }
  const [question] = questionsOf(unquoted(instructions), flags);
  return question as Question;
}

/** Quotes around a whole value are as in a shell. */
function unquoted(text: string): string {
  return /^(["'])(.*)\1$/s.exec(text.trim())?.[2] ?? text.trim();
}
