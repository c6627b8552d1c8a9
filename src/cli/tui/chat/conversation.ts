import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../../shared/money.ts';

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
}

interface ConversationOptions {
  model: string;
  /** A thread that keeps it; without one, all that was said is sent again each time. */
  thread: string | undefined;
}

/** What was said, with whom, and what it cost. */
export class Conversation {
  model: string;
  readonly thread: string | undefined;
  /** Instructions that stand before everything. */
  system: string | undefined;
  turns: Turn[] = [];
  inputTokens = 0;
  outputTokens = 0;
  answers = 0;
  #cost: NanoUsd = 0;
  /** How many answers had a price that nobody knows: they are in no amount. */
  unpriced = 0;

  constructor({ model, thread }: ConversationOptions) {
    this.model = model;
    this.thread = thread;
  }

  /** The call that asks for the answer to `text`. */
  body(text: string): CreateResponseBody {
    const said = this.thread === undefined ? this.turns : [];
    const body: CreateResponseBody = {
      model: this.model,
      input: [...said, { role: 'user', text } as const].map(({ role, text: content }) => ({
        type: 'message',
        role,
        content,
      })),
    };
    if (this.system !== undefined) body.instructions = this.system;
    if (this.thread !== undefined) body.service = { thread: this.thread };
    return body;
  }

  /** Takes what an answer took. `costUsd` is null where its price is not known. */
  count({ input, output, costUsd }: { input: number; output: number; costUsd: string | null }): void {
    this.answers += 1;
    this.inputTokens += input;
    this.outputTokens += output;
    const cost = costUsd === null ? undefined : parseUsd(costUsd);
    if (cost === undefined) this.unpriced += 1;
    else this.#cost += cost;
  }

  /** What all answers cost, in dollars. */
  costUsd(): string {
    return formatUsd(this.#cost);
  }

  /** The conversation as Markdown. */
  markdown(): string {
    const head = this.system === undefined ? [] : [`**System**\n\n${this.system}`];
    const turns = this.turns.map(
      ({ role, text }) => `**${role === 'user' ? 'You' : this.model}**\n\n${text}`,
    );
    return `${[...head, ...turns].join('\n\n')}\n`;
  }
}
