import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../../shared/money/money.ts';
import type { Part } from '../../commands/respond/attachment.ts';

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
  /** Attached files. */
  parts?: Part[];
  /** The model that gave an answer, where that is known. */
  model?: string;
}

interface ConversationOptions {
  model: string;
  /** The thread that stores it. */
  thread: string | undefined;
}

/** The messages of a chat, and what they cost. */
export class Conversation {
  model: string;
  readonly thread: string | undefined;
  /** Instructions for the model. */
  system: string | undefined;
  turns: Turn[] = [];
  /** The last response, if it was stored; without one, the whole conversation is sent with each question. */
  stored: string | undefined;
  inputTokens = 0;
  outputTokens = 0;
  answers = 0;
  #cost: NanoUsd = 0;
  /** Answers with an unknown price, which `costUsd` leaves out. */
  unpriced = 0;

  constructor({ model, thread }: ConversationOptions) {
    this.model = model;
    this.thread = thread;
  }

  /** The request body that asks a question. */
  body(question: Omit<Turn, 'role'>): CreateResponseBody {
    const isContinued = this.thread !== undefined || this.stored !== undefined;
    const before = isContinued ? [] : this.turns;
    const body: CreateResponseBody = {
      model: this.model,
      input: [...before, { role: 'user', ...question } as const].map(messageOf),
    };
    if (this.system !== undefined) body.instructions = this.system;
    if (this.thread !== undefined) body.service = { thread: this.thread };
    else if (this.stored !== undefined) body.previous_response_id = this.stored;
    return body;
  }

  /** Forgets everything said so far. */
  clear(): void {
    this.turns = [];
    this.stored = undefined;
  }

  /** Adds an answer to the totals. `costUsd` is null if its price is unknown. */
  count({ input, output, costUsd }: { input: number; output: number; costUsd: string | null }): void {
    this.answers += 1;
    this.inputTokens += input;
    this.outputTokens += output;
    const cost = costUsd === null ? undefined : parseUsd(costUsd);
    if (cost === undefined) this.unpriced += 1;
    else this.#cost += cost;
  }

  /** The cost of all answers in dollars. */
  costUsd(): string {
    return formatUsd(this.#cost);
  }

  markdown(): string {
    const head = this.system === undefined ? [] : [`**System**\n\n${this.system}`];
    const turns = this.turns.map(
      ({ role, text, model }) => `**${role === 'user' ? 'You' : (model ?? this.model)}**\n\n${text}`,
    );
    return `${[...head, ...turns].join('\n\n')}\n`;
  }
}

function messageOf({ role, text, parts = [] }: Turn) {
  const content = parts.length === 0 ? text : [{ type: 'input_text', text }, ...parts];
  return { type: 'message', role, content };
}
