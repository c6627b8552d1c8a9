import { escapeControls } from '../escape-controls.ts';
import { wrapLine } from '../wrap-line.ts';
import type { AnswerText } from './answer-text.ts';

/** Text as it is, wrapped at words. */
export class PlainText implements AnswerText {
  #line = '';

  get growing(): readonly string[] {
    return this.#line === '' ? [] : [this.#line];
  }

  push(piece: string, width: number): string[] {
    const lines = (this.#line + escapeControls(piece).replace(/\t/g, '  ')).split('\n');
    const wrapped = wrapLine(lines.pop() ?? '', width);
    this.#line = wrapped.pop() ?? '';
    return [...lines.flatMap((line) => wrapLine(line, width)), ...wrapped];
  }

  end(): string[] {
    const rest = [...this.growing];
    this.#line = '';
    return rest;
  }
}
