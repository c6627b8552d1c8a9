import { sizeText } from '../../../shared/text/size-text.ts';
import { type Attachment, attachmentsMax } from '../../commands/respond/attachment.ts';
import { type GrowingAnswer, pricesOf, progressLine } from '../../commands/respond/progress.ts';
import type { Context } from '../../context.ts';
import { isTransient } from '../../hosts/is-transient.ts';
import type { AnswerText } from '../../output/answer-text/answer-text.ts';
import { Observable } from '../observable.ts';
import { untrustedLines } from '../text/cells.ts';
import {
  applyKey,
  editOf,
  emptyEdit,
  insert,
  type LineEdit,
  lineDown,
  lineUp,
  withoutControls,
} from '../text/line-edit.ts';
import { ask } from './ask.ts';
import { attachedFile, mentionedFiles } from './attached-files.ts';
import type { Conversation, Turn } from './conversation.ts';
import { History } from './prompt.ts';
import { isSlash, runSlash, Suggestions } from './slash-commands.ts';
import { Transcript, type TranscriptLine } from './transcript.ts';

interface ChatOptions {
  context: Context;
  /** Turns the answers into lines. */
  answerText: () => AnswerText;
  /** Prompts of earlier chats, oldest first. */
  prompts: readonly string[];
  onPrompt(text: string): void;
  /** Called with each stored response. */
  onStored(response: string): void;
  explain(error: unknown): string;
  columns(): number;
  quit(): void;
}

interface Answering extends GrowingAnswer {
  controller: AbortController;
}

const redrawEveryMs = 80;
const tickMs = 250;
const retryMs = 500;

/** The state of the chat screen: transcript, growing answer and prompt. */
export class ChatModel extends Observable {
  readonly options: ChatOptions;
  readonly conversation: Conversation;
  readonly suggestions: Suggestions;
  edit: LineEdit = emptyEdit;
  answering: Answering | undefined;
  /** Hides everything below the transcript. */
  isQuitting = false;
  readonly #transcript = new Transcript();
  readonly #history: History;
  #text: AnswerText;
  /** Attached to the next question. */
  #attached: Attachment[] = [];
  /** The files of questions that are not answered, which are sent if one is asked again. */
  readonly #failed = new Map<string, readonly Attachment[]>();

  constructor(conversation: Conversation, options: ChatOptions) {
    super({ intervalMs: redrawEveryMs });
    this.conversation = conversation;
    this.options = options;
    this.#history = new History(options.prompts);
    this.#text = options.answerText();
    this.suggestions = new Suggestions(options.context, () => this.changed());
  }

  /** The same array until there are more lines. */
  transcript(): TranscriptLine[] {
    return this.#transcript.lines();
  }

  /** The lines of the answer that still change. */
  growing(): readonly string[] {
    return this.#text.growing;
  }

  /** Appends an earlier answer. */
  printAnswer(text: string): void {
    const lines = this.options.answerText();
    const finished = lines.push(text, this.options.columns() - 1);
    this.#transcript.append('answer', [...finished, ...lines.end()], { isApart: true });
  }

  /** Appends untrusted text to the transcript. */
  print(kind: TranscriptLine['kind'], text: string): void {
    const lines = untrustedLines(text.trimEnd(), this.options.columns() - 3);
    this.#transcript.append(kind, lines, {
      isApart: kind !== 'note' || this.#transcript.lastKind() !== 'error',
    });
  }

  /** The progress of the running answer. */
  progressText(): string | undefined {
    return this.answering && progressLine(this.answering, this.options.context.now());
  }

  press(key: string, input: string): void {
    if (key === 'ctrl-c') this.#interrupt();
    else if (key === 'ctrl-d' && this.edit.text === '') this.options.quit();
    else if (/^(alt|ctrl|shift)-enter$|^ctrl-j$/.test(key)) this.edit = insert(this.edit, '\n');
    else if (key === 'enter') this.#enter();
    else if (key === 'tab') this.#complete();
    else if (key === 'up') this.edit = lineUp(this.edit) ?? this.#recalled(-1);
    else if (key === 'down') this.edit = lineDown(this.edit) ?? this.#recalled(1);
    else if (key === 'ctrl-p') this.edit = this.#recalled(-1);
    else if (key === 'ctrl-n') this.edit = this.#recalled(1);
    else this.edit = applyKey(this.edit, key, input) ?? this.edit;
    this.changed();
  }

  paste(text: string): void {
    this.edit = insert(this.edit, withoutControls(text));
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
    if (this.answering?.controller.signal.aborted) this.options.quit();
    else if (this.answering) this.answering.controller.abort(new Error('interrupted'));
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
    // While an answer is running, the prompt is kept.
    if (line === '' || this.answering) return;
    this.edit = emptyEdit;
    this.#history.add(text);
    this.options.onPrompt(text);
    // A restarted daemon may have a new address.
    this.options.context.forgetHost();
    void (isSlash(text) ? this.#command(line) : this.send(text));
  }

  async #command(line: string): Promise<void> {
    this.print('you', line);
    try {
      const note = await this.#run(line);
      if (note !== '') this.print('note', note);
    } catch (error) {
      this.print('error', this.options.explain(error));
      this.#restorePrompt(line);
    }
    this.changed();
  }

  #attach(path: string): string {
    const [file] = attachedFile(path, this.options.context.home);
    if (file) this.#attached.push(file);
    return this.#attached.map(attachedText).join('\n');
  }

  /** Retries once, because the daemon may just be restarting. */
  async #run(line: string): Promise<string> {
    const { conversation } = this;
    const { context, quit } = this.options;
    const attach = (path: string) => this.#attach(path);
    const detach = () => {
      this.#attached = [];
      this.#failed.clear();
    };
    const chat = { conversation, context, quit, attach, detach };
    try {
      return await runSlash(chat, line);
    } catch (error) {
      if (!isTransient(error)) throw error;
      await context.sleep(retryMs);
      context.forgetHost();
      return runSlash(chat, line);
    }
  }

  /** Asks, and prints the answer as it arrives. If it fails, the question goes back to the prompt. */
  async send(text: string): Promise<void> {
    const { context } = this.options;
    this.print('you', text);
    const attached = [...(this.#failed.get(text) ?? []), ...this.#attached];
    const question = this.#questionOf(text, attached);
    if (question === undefined) return;
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
      if (attached.length > 0) this.#failed.set(text, attached);
      await this.#answer(question, answering);
    } catch (error) {
      this.#flushAnswer();
      this.print('error', this.options.explain(error));
      this.#restorePrompt(text);
    } finally {
      clearInterval(ticking);
      this.answering = undefined;
      this.changed();
    }
  }

  /** The question with its files; undefined after a failure, which is printed. */
  #questionOf(text: string, attached: readonly Attachment[]): Omit<Turn, 'role'> | undefined {
    try {
      const mentioned = mentionedFiles(text, this.options.context.home);
      const files = [...attached, ...mentioned];
      const size = files.reduce((sum, file) => sum + file.size, 0);
      if (size > attachmentsMax)
        throw new Error(`Too large: at most ${sizeText(attachmentsMax)} can be attached.`);
      for (const file of mentioned) this.print('note', attachedText(file));
      this.#attached = [];
      return files.length === 0 ? { text } : { text, parts: files.map(({ part }) => part) };
    } catch (error) {
      this.print('error', this.options.explain(error));
      this.#restorePrompt(text);
      this.changed();
      return undefined;
    }
  }

  async #answer(question: Omit<Turn, 'role'>, answering: Answering): Promise<void> {
    const { conversation, options } = this;
    const {
      text: answer,
      model,
      bill,
      stored,
      warning,
      failure,
    } = await ask(options.context, {
      conversation,
      question,
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
        this.#transcript.append('answer', this.#text.push(piece, options.columns() - 1), {
          isApart: isFirst,
        });
        this.changed({ soon: true });
      },
    });
    this.#flushAnswer();
    if (warning) this.print('error', warning);
    if (failure) {
      this.print('error', options.explain(failure));
      this.#restorePrompt(question.text);
    } else {
      this.#failed.delete(question.text);
      conversation.turns.push(
        { role: 'user', ...question },
        { role: 'assistant', text: answer, ...(model && { model }) },
      );
    }
    this.print('note', bill);
    if (!failure) this.#noteStored(stored);
  }

  /** Only a stored conversation can be continued later. After a partial answer, the next one stores the whole. */
  #noteStored(stored: string | null | undefined): void {
    const { conversation, options } = this;
    if (conversation.thread !== undefined) return;
    const isNews = conversation.answers === 1 || conversation.stored !== undefined;
    conversation.stored = stored ?? undefined;
    if (typeof stored === 'string') options.onStored(stored);
    else if (stored === null && isNews)
      this.print('note', 'This conversation is not stored, so --continue cannot resume it.');
  }

  #flushAnswer(): void {
    this.#transcript.append('answer', this.#text.end(), { isApart: false });
    this.#text = this.options.answerText();
  }

  /** So that Enter asks again. */
  #restorePrompt(text: string): void {
    if (this.edit.text === '') this.edit = editOf(text);
  }
}

function attachedText({ name, size }: Attachment): string {
  return `Attached ${name} (${sizeText(size)}).`;
}
