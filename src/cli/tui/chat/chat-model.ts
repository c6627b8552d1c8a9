import { type GrowingAnswer, pricesOf, progressLine } from '../../commands/respond/progress.ts';
import type { Context } from '../../context.ts';
import { mayPass } from '../../may-pass.ts';
import { Drawn } from '../drawn.ts';
import { foreignLines } from '../text/cells.ts';
import {
  clean,
  editBy,
  editOf,
  emptyEdit,
  insert,
  type LineEdit,
  lineDown,
  lineUp,
} from '../text/line-edit.ts';
import { ask } from './ask.ts';
import type { Conversation } from './conversation.ts';
import { History } from './history.ts';
import { LineFeed } from './line-feed.ts';
import { type PrintedLine, Printer } from './printer.ts';
import { runSlash } from './slash-commands.ts';
import { Suggestions } from './suggestions.ts';

interface ChatOptions {
  context: Context;
  explain(error: unknown): string;
  columns(): number;
  quit(): void;
}

interface Answering extends GrowingAnswer {
  controller: AbortController;
}

const tellEveryMs = 80;
const tickMs = 250;
const retryMs = 500;

/** The conversation on the screen: what is printed, what is growing, what is being written. */
export class ChatModel extends Drawn {
  readonly options: ChatOptions;
  readonly conversation: Conversation;
  readonly feed = new LineFeed();
  readonly suggestions: Suggestions;
  edit: LineEdit = emptyEdit;
  answering: Answering | undefined;
  /** Once it is left nothing is drawn below what was said. */
  isLeaving = false;
  readonly #printer = new Printer();
  readonly #history = new History();

  constructor(conversation: Conversation, options: ChatOptions) {
    super(tellEveryMs);
    this.conversation = conversation;
    this.options = options;
    this.suggestions = new Suggestions(options.context, () => this.changed());
  }

  /** All lines that were printed, the same array until there are more. */
  printed(): PrintedLine[] {
    return this.#printer.lines();
  }

  /** Prints text for good, apart from what stands above; what somebody else wrote is never obeyed. */
  print(kind: PrintedLine['kind'], text: string): void {
    const lines = foreignLines(text.trimEnd(), this.options.columns() - 3);
    this.#printer.print(kind, lines, { isApart: kind !== 'note' || this.#printer.lastKind() !== 'fault' });
  }

  /** The line that tells how an answer goes. */
  progressText(): string | undefined {
    return this.answering && progressLine(this.answering, this.options.context.now());
  }

  press(key: string, input: string): void {
    if (key === 'ctrl-c') this.#interrupt();
    else if (key === 'ctrl-d' && this.edit.text === '') this.options.quit();
    else if (key === 'alt-enter' || key === 'ctrl-j') this.edit = insert(this.edit, '\n');
    else if (key === 'enter') this.#enter();
    else if (key === 'tab') this.#complete();
    else if (key === 'up') this.edit = lineUp(this.edit) ?? this.#recalled(-1);
    else if (key === 'down') this.edit = lineDown(this.edit) ?? this.#recalled(1);
    else if (key === 'ctrl-p') this.edit = this.#recalled(-1);
    else if (key === 'ctrl-n') this.edit = this.#recalled(1);
    else this.edit = editBy(this.edit, key, input) ?? this.edit;
    this.changed();
  }

  paste(text: string): void {
    this.edit = insert(this.edit, clean(text));
    this.changed();
  }

  #recalled(by: 1 | -1): LineEdit {
    return this.#history.go(by, this.edit) ?? this.edit;
  }

  #complete(): void {
    const [first] = this.suggestions.of(this.edit.text);
    if (first) this.edit = { ...editOf(first.line), killed: this.edit.killed };
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
    this.#history.add(text);
    // A daemon that was started again since the last question may be elsewhere.
    this.options.context.forgetHost();
    void (line.startsWith('/') ? this.#command(line) : this.send(text));
  }

  async #command(line: string): Promise<void> {
    this.print('you', line);
    try {
      const told = await this.#run(line);
      if (told !== '') this.print('note', told);
    } catch (error) {
      this.print('fault', this.options.explain(error));
    }
    this.changed();
  }

  /** A daemon that is just being started again is asked once more. */
  async #run(line: string): Promise<string> {
    const { context } = this.options;
    try {
      return await runSlash(this, line);
    } catch (error) {
      if (!mayPass(error)) throw error;
      await context.sleep(retryMs);
      context.forgetHost();
      return runSlash(this, line);
    }
  }

  /** Asks, and prints the answer as it comes. What could not be asked goes back into the line. */
  async send(text: string): Promise<void> {
    const { context } = this.options;
    this.print('you', text);
    const answering: Answering = {
      controller: new AbortController(),
      startedAt: context.now(),
      label: this.conversation.model,
      asked: JSON.stringify(this.conversation.turns).length + text.length,
      characters: 0,
      prices: undefined,
    };
    this.answering = answering;
    const ticking = setInterval(() => this.changed({ soon: true }), tickMs);
    this.changed();
    try {
      await this.#answer(text, answering);
    } catch (error) {
      this.#endAnswer();
      this.print('fault', this.options.explain(error));
      this.#giveBack(text);
    } finally {
      clearInterval(ticking);
      this.answering = undefined;
      this.changed();
    }
  }

  async #answer(text: string, answering: Answering): Promise<void> {
    const { conversation, options } = this;
    const {
      text: answer,
      bill,
      warning,
      failure,
    } = await ask(options.context, {
      conversation,
      text,
      signal: answering.controller.signal,
      onRoute: (model, provider) => {
        answering.label = `${model} via ${provider}`;
        void pricesOf(options.context, model).then((prices) => {
          answering.prices = prices;
        });
      },
      onText: (piece) => {
        const isFirst = answering.characters === 0;
        answering.characters += piece.length;
        this.#printer.print('answer', this.feed.push(piece, options.columns() - 1), { isApart: isFirst });
        this.changed({ soon: true });
      },
    });
    this.#endAnswer();
    if (warning) this.print('fault', warning);
    if (failure) {
      this.print('fault', options.explain(failure));
      this.#giveBack(text);
    } else conversation.turns.push({ role: 'user', text }, { role: 'assistant', text: answer });
    this.print('note', bill);
  }

  #endAnswer(): void {
    this.#printer.print('answer', this.feed.end(), { isApart: false });
  }

  /** What got no answer can be sent again with Enter. */
  #giveBack(text: string): void {
    if (this.edit.text === '') this.edit = editOf(text);
  }
}
