import { charactersPerToken, type DollarPrices, pricesOf } from '../../commands/respond/progress.ts';
import type { Context } from '../../context.ts';
import { duration } from '../../output/time.ts';
import { foreignLines } from '../text/cells.ts';
import { clean, editBy, editOf, emptyEdit, insert, type LineEdit } from '../text/line-edit.ts';
import { ask } from './ask.ts';
import type { Conversation } from './conversation.ts';
import { LineFeed } from './line-feed.ts';
import { runSlash } from './slash-commands.ts';

interface ChatOptions {
  context: Context;
  explain(error: unknown): string;
  columns(): number;
  quit(): void;
}

/** A line that is printed for good. */
export interface PrintedLine {
  id: number;
  kind: 'you' | 'answer' | 'note' | 'fault';
  text: string;
}

interface Answering {
  controller: AbortController;
  startedAt: number;
  label: string;
  characters: number;
  prices: DollarPrices | undefined;
}

const historyMax = 500;
const tellEveryMs = 80;

/** The conversation on the screen: what is printed, what is growing, what is being written. */
export class ChatModel {
  readonly options: ChatOptions;
  readonly conversation: Conversation;
  readonly feed = new LineFeed();
  printed: PrintedLine[] = [];
  edit: LineEdit = emptyEdit;
  answering: Answering | undefined;
  readonly #history: string[] = [];
  #historyAt = 0;
  #printedCount = 0;
  #version = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(conversation: Conversation, options: ChatOptions) {
    this.conversation = conversation;
    this.options = options;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  changed({ soon = false }: { soon?: boolean } = {}): void {
    if (soon) {
      this.#timer ??= setTimeout(() => this.changed(), tellEveryMs);
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Prints text for good; what somebody else wrote is never obeyed. */
  print(kind: PrintedLine['kind'], text: string): void {
    this.#printLines(kind, foreignLines(text, this.options.columns() - 3));
  }

  #printLines(kind: PrintedLine['kind'], lines: string[]): void {
    if (lines.length === 0) return;
    const fresh = lines.map((text) => {
      this.#printedCount += 1;
      return { id: this.#printedCount, kind, text };
    });
    this.printed = [...this.printed, ...fresh];
  }

  /** The line that tells how an answer goes. */
  progressText(): string | undefined {
    const { answering, options } = this;
    if (!answering) return undefined;
    const tokens = answering.characters / charactersPerToken;
    const parts = [answering.label, duration(options.context.now() - answering.startedAt)];
    if (tokens > 0) parts.push(`~${Math.ceil(tokens)} tokens`);
    if (answering.prices) {
      const input = JSON.stringify(this.conversation.turns).length / charactersPerToken;
      const usd = (input * answering.prices.input + tokens * answering.prices.output) / 1e6;
      parts.push(`~$${Number(usd.toFixed(6))}`);
    }
    return parts.join(' · ');
  }

  press(key: string, input: string): void {
    if (key === 'ctrl-c') this.#interrupt();
    else if (key === 'ctrl-d' && this.edit.text === '') this.options.quit();
    else if (key === 'alt-enter' || key === 'ctrl-j') this.edit = insert(this.edit, '\n');
    else if (key === 'enter') this.#enter();
    else if (key === 'up' || key === 'ctrl-p') this.#recall(-1);
    else if (key === 'down' || key === 'ctrl-n') this.#recall(1);
    else this.edit = editBy(this.edit, key, input) ?? this.edit;
    this.changed();
  }

  paste(text: string): void {
    this.edit = insert(this.edit, clean(text));
    this.changed();
  }

  #interrupt(): void {
    if (this.answering) this.answering.controller.abort(new Error('interrupted'));
    else if (this.edit.text !== '') this.edit = emptyEdit;
    else this.options.quit();
  }

  #enter(): void {
    const { text, cursor } = this.edit;
    if (text.slice(0, cursor).endsWith('\\')) {
      const before = text.slice(0, cursor - 1);
      this.edit = insert({ ...this.edit, text: before + text.slice(cursor), cursor: before.length }, '\n');
      return;
    }
    const line = text.trim();
    // What is written while an answer comes stays until it is there.
    if (line === '' || this.answering) return;
    this.edit = emptyEdit;
    this.#remember(text);
    void (line.startsWith('/') ? this.#command(line) : this.send(text));
  }

  #remember(text: string): void {
    this.#history.push(text);
    if (this.#history.length > historyMax) this.#history.shift();
    this.#historyAt = this.#history.length;
  }

  #recall(by: number): void {
    this.#historyAt = Math.max(0, Math.min(this.#history.length, this.#historyAt + by));
    this.edit = { ...editOf(this.#history[this.#historyAt] ?? ''), killed: this.edit.killed };
  }

  async #command(line: string): Promise<void> {
    this.print('you', line);
    try {
      const told = await runSlash(this, line);
      if (told !== '') this.print('note', told);
    } catch (error) {
      this.print('fault', this.options.explain(error));
    }
    this.changed();
  }

  /** Asks, and prints the answer as it comes. What could not be asked goes back into the line. */
  async send(text: string): Promise<void> {
    const { context } = this.options;
    const { conversation, feed } = this;
    this.print('you', text);
    const label = conversation.model;
    const controller = new AbortController();
    const answering: Answering = {
      controller,
      startedAt: context.now(),
      label,
      characters: 0,
      prices: undefined,
    };
    this.answering = answering;
    const ticking = setInterval(() => this.changed({ soon: true }), 250);
    this.changed();
    try {
      const {
        text: answer,
        bill,
        warning,
      } = await ask(context, {
        conversation,
        text,
        signal: controller.signal,
        onRoute: (model, provider) => {
          answering.label = `${model} via ${provider}`;
          void pricesOf(context, model).then((prices) => {
            answering.prices = prices;
          });
        },
        onText: (piece) => {
          answering.characters += piece.length;
          this.#printLines('answer', feed.push(piece, this.options.columns() - 1));
          this.changed({ soon: true });
        },
      });
      this.#printLines('answer', feed.end());
      conversation.turns.push({ role: 'user', text }, { role: 'assistant', text: answer });
      if (warning) this.print('fault', warning);
      this.print('note', bill);
    } catch (error) {
      this.#printLines('answer', feed.end());
      this.print('fault', this.options.explain(error));
      if (this.edit.text === '') this.edit = editOf(text);
    } finally {
      clearInterval(ticking);
      this.answering = undefined;
      this.changed();
    }
  }
}
