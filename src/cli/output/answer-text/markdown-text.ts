import { lexer, type Token } from 'marked';
import { escapeControls } from '../escape-controls.ts';
import type { Paint } from '../style.ts';
import type { AnswerText } from './answer-text.ts';
import { renderMarkdown } from './render-markdown.ts';

/** A longer block is read again only after a line, or so many characters. */
const largeBlock = 4096;
const rereadAfter = 256;

/** Markdown, rendered block by block. The last block still changes, as its meaning depends on what follows. */
export class MarkdownText implements AnswerText {
  growing: readonly string[] = [];
  readonly #paint: Paint;
  /** The source of the last block. */
  #source = '';
  #unread = 0;
  #width = 0;
  /** Whether the last block is set apart from one above it. */
  #isApart = false;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  push(piece: string, width: number): string[] {
    this.#width = width;
    this.#source += escapeControls(piece).replace(/\t/g, '    ');
    this.#unread += piece.length;
    const isLarge = this.#source.length > largeBlock;
    if (isLarge && this.#unread < rereadAfter && !piece.includes('\n')) return [];
    this.#unread = 0;
    const tokens = lexer(this.#source);
    // Blank lines at the end may yet continue a list.
    const last = tokens.findLastIndex(({ type }) => type !== 'space');
    const finished = last > 0 ? this.#render(tokens.slice(0, last)) : [];
    if (finished.length > 0) this.#isApart = true;
    // Not the source of the other tokens, which omits blanks at the end.
    if (last > 0) this.#source = this.#source.slice(lengthOf(tokens.slice(0, last)));
    if (isLarge) finished.push(...this.#finishedCode());
    this.growing = this.#render(lexer(this.#source));
    return finished;
  }

  end(): string[] {
    const lines = this.#render(lexer(this.#source));
    this.#source = '';
    this.growing = [];
    this.#isApart ||= lines.length > 0;
    return lines;
  }

  #render(tokens: readonly Token[]): string[] {
    const lines = renderMarkdown(tokens, { width: this.#width, paint: this.#paint });
    return this.#isApart && lines.length > 0 ? ['', ...lines] : lines;
  }

  /** The whole lines of a long block of code that has not ended; the source keeps its fence and the last line. */
  #finishedCode(): string[] {
    const [, fence, body = ''] = /^( {0,3}(?:`{3}|~{3})[^\n]*\n)([\s\S]*\n)[^\n]*$/.exec(this.#source) ?? [];
    const [token, ...others] = lexer(this.#source);
    if (fence === undefined || token?.type !== 'code' || others.length > 0) return [];
    const isClosed = /\n {0,3}(`{3,}|~{3,}) *\n*$/.test(this.#source);
    if (isClosed) return [];
    const lines = this.#render([{ ...token, text: body.slice(0, -1) }]);
    this.#source = fence + this.#source.slice(fence.length + body.length);
    this.#isApart = false;
    return lines;
  }
}

function lengthOf(tokens: readonly Token[]): number {
  return tokens.reduce((length, { raw }) => length + raw.length, 0);
}
