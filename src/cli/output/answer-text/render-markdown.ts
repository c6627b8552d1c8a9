import type { Token, Tokens } from 'marked';
import type { Paint, Style } from '../style.ts';
import { graphemesOf, widthOf } from '../width.ts';
import { wrapLine } from '../wrap-line.ts';

export interface MarkdownOptions {
  /** In cells. */
  width: number;
  paint: Paint;
}

/** A part of a line with its styles. */
interface Span {
  text: string;
  styles: readonly Style[];
}

const ruleWidthMax = 40;
const codeIndent = '  ';
const columnGap = '  ';

/** Renders blocks of Markdown as lines for a terminal, with an empty line between them. */
export function renderMarkdown(tokens: readonly Token[], options: MarkdownOptions): string[] {
  return blocksOf(tokens, options, { isTight: false });
}

function blocksOf(
  tokens: readonly Token[],
  options: MarkdownOptions,
  { isTight }: { isTight: boolean },
): string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    const block = blockOf(token, options);
    if (block.length > 0 && lines.length > 0 && !isTight) lines.push('');
    lines.push(...block);
  }
  return lines;
}

function blockOf(token: Token, options: MarkdownOptions): string[] {
  const { width, paint } = options;
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    case 'heading':
      return headingOf(token as Tokens.Heading, options);
    case 'code': {
      const room = width - codeIndent.length;
      return (token as Tokens.Code).text
        .split('\n')
        .flatMap((line) => piecesOfWidth(line, room).map((piece) => codeIndent + paint('cyan', piece)));
    }
    case 'blockquote': {
      const inner = blocksOf(token.tokens ?? [], { ...options, width: width - 2 }, { isTight: false });
      return inner.map((line) => `${paint('dim', '│')} ${line}`);
    }
    case 'list':
      return listOf(token as Tokens.List, options);
    case 'table':
      return tableOf(token as Tokens.Table, options);
    case 'hr':
      return [paint('dim', '─'.repeat(Math.min(width, ruleWidthMax)))];
    default: {
      const spans = 'tokens' in token && token.tokens ? spansOf(token.tokens, []) : [plain(token.raw)];
      return wrapSpans(trimEnd(spans), options);
    }
  }
}

/** Without styles, the signs of the source remain. */
function headingOf({ tokens, depth }: Tokens.Heading, options: MarkdownOptions): string[] {
  const styles: Style[] = depth === 1 ? ['bold', 'underline'] : ['bold'];
  const spans = spansOf(tokens, styles);
  return wrapSpans(hasStyles(options) ? spans : [plain(`${'#'.repeat(depth)} `), ...spans], options);
}

function listOf({ items, ordered, start, loose }: Tokens.List, options: MarkdownOptions): string[] {
  const lines: string[] = [];
  for (const [index, { tokens, task, checked }] of items.entries()) {
    const bullet = ordered ? `${Number(start || 1) + index}. ` : '• ';
    const marker = task ? `${bullet}${checked ? '[x]' : '[ ]'} ` : bullet;
    const room = Math.max(1, options.width - marker.length);
    const inner = blocksOf(tokens, { ...options, width: room }, { isTight: !loose });
    if (loose && lines.length > 0) lines.push('');
    const [first = '', ...rest] = inner;
    const indent = ' '.repeat(marker.length);
    lines.push(marker + first, ...rest.map((line) => (line === '' ? '' : indent + line)));
  }
  return lines;
}

/** Aligned columns where they fit; otherwise each row as a list of its cells. */
function tableOf({ header, rows, align }: Tokens.Table, options: MarkdownOptions): string[] {
  const { width, paint } = options;
  const spans = [header, ...rows].map((row, at) =>
    row.map(({ tokens }) => spansOf(tokens, at === 0 ? ['bold'] : [])),
  );
  const widths = header.map((_, column) =>
    Math.max(1, ...spans.map((row) => widthOf(textOf(row[column] ?? [])))),
  );
  const total = widths.reduce((sum, each) => sum + each, 0) + columnGap.length * (widths.length - 1);
  if (total > width) {
    return spans.slice(1).flatMap((row, at) => [
      ...(at > 0 ? [''] : []),
      ...row.flatMap((cell, column) => {
        const title = textOf(spans[0]?.[column] ?? []);
        return wrapSpans([{ text: `${title}: `, styles: ['bold'] }, ...cell], options);
      }),
    ]);
  }
  const lines = spans.map((row) =>
    widths
      .map((cells, column) => {
        const cell = row[column] ?? [];
        const blank = ' '.repeat(cells - widthOf(textOf(cell)));
        const text = cell.map((span) => painted(span, paint)).join('');
        return align[column] === 'right' ? blank + text : text + blank;
      })
      .join(columnGap)
      .trimEnd(),
  );
  const rule = paint('dim', widths.map((cells) => '─'.repeat(cells)).join(columnGap));
  return [...lines.slice(0, 1), rule, ...lines.slice(1)];
}

const plain = (text: string): Span => ({ text, styles: [] });

function spansOf(tokens: readonly Token[], styles: readonly Style[]): Span[] {
  return tokens.flatMap((token): Span[] => {
    const inner = (more: Style) => spansOf(('tokens' in token && token.tokens) || [], [...styles, more]);
    switch (token.type) {
      case 'strong':
        return inner('bold');
      case 'em':
        return inner('italic');
      case 'codespan':
        return [{ text: token.text, styles: [...styles, 'cyan'] }];
      case 'br':
        return [plain('\n')];
      case 'link': {
        const { href, text } = token as Tokens.Link;
        const target =
          text === href || href === `mailto:${text}` ? [] : [{ text: ` (${href})`, styles: dim }];
        return [...inner('underline'), ...target];
      }
      case 'image':
        return [plain(`[image: ${token.text || token.href}]`), { text: ` (${token.href})`, styles: dim }];
      case 'escape':
        return [{ text: token.text, styles }];
      case 'checkbox':
        return [];
      case 'text':
        return token.tokens ? spansOf(token.tokens, styles) : [{ text: unescaped(token.text), styles }];
      default:
        // `~` often means “about”, so struck text keeps its signs; so do HTML and what is unknown.
        return [{ text: token.raw, styles }];
    }
  });
}

const dim: readonly Style[] = ['dim'];

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity);
}

/** Wraps at words. Line ends of the source are kept, as models mean them. */
function wrapSpans(spans: readonly Span[], { width, paint }: MarkdownOptions): string[] {
  return linesOf(spans).flatMap((line) => {
    const text = textOf(line);
    let at = 0;
    return wrapLine(text, width).map((wrapped) => {
      // Only the blanks at a break are left out.
      const from = text.indexOf(wrapped, at);
      at = from + wrapped.length;
      return sliceOf(line, from, at)
        .map((span) => painted(span, paint))
        .join('');
    });
  });
}

function linesOf(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const { text, styles } of spans) {
    const [first = '', ...others] = text.split('\n');
    lines.at(-1)?.push({ text: first, styles });
    for (const other of others) lines.push([{ text: other, styles }]);
  }
  return lines;
}

function sliceOf(spans: readonly Span[], from: number, to: number): Span[] {
  let start = 0;
  const found: Span[] = [];
  for (const { text, styles } of spans) {
    const part = text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (part !== '') found.push({ text: part, styles });
    start += text.length;
  }
  return found;
}

function trimEnd(spans: readonly Span[]): Span[] {
  const last = spans.at(-1);
  return last ? [...spans.slice(0, -1), { ...last, text: last.text.trimEnd() }] : [];
}

function textOf(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join('');
}

function painted({ text, styles }: Span, paint: Paint): string {
  return styles.reduceRight((inner, style) => paint(style, inner), text);
}

function hasStyles({ paint }: MarkdownOptions): boolean {
  return paint('bold', 'x') !== 'x';
}

/** Code is cut, not wrapped at words, so that its blanks stay. */
function piecesOfWidth(line: string, width: number): string[] {
  const pieces = [''];
  let cells = 0;
  for (const character of graphemesOf(line)) {
    const own = widthOf(character);
    if (cells + own > Math.max(2, width)) {
      pieces.push('');
      cells = 0;
    }
    pieces[pieces.length - 1] += character;
    cells += own;
  }
  return pieces;
}
