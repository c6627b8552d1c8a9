interface Style {
  color: string | undefined;
  isBold: boolean;
  isDim: boolean;
  isInverse: boolean;
}

const plain: Style = { color: undefined, isBold: false, isDim: false, isInverse: false };
const background = '#0d1117';
const foreground = '#d5dbe3';
/** SGR foreground codes. */
const colors: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  36: '#39c5cf',
};
const cell = { width: 8.4, height: 18 };
const margin = 14;

/** Renders a screen with SGR codes, as `tmux capture-pane -e` prints it, as an SVG. */
export function terminalSvg(screen: string, { columns, title }: { columns: number; title: string }): string {
  const lines = screen.replace(/\n+$/, '').split('\n');
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = lines.length * cell.height + 2 * margin;
  const body: string[] = [];
  let style = plain;
  for (const [row, line] of lines.entries()) {
    let column = 0;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR codes start with Escape.
    for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
      if (part.startsWith('\u001b')) style = applyCodes(style, part);
      else {
        body.push(run(part, style, { row, column }));
        column += [...part].length;
      }
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${background}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${foreground}">`,
    ...body.filter((element) => element !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function applyCodes(style: Style, sequence: string): Style {
  let next = style;
  for (const code of sequence.slice(2, -1).split(';').map(Number)) {
    if (code === 0) next = plain;
    else if (code === 1) next = { ...next, isBold: true };
    else if (code === 2) next = { ...next, isDim: true };
    else if (code === 7) next = { ...next, isInverse: true };
    else if (code === 22) next = { ...next, isBold: false, isDim: false };
    else if (code === 27) next = { ...next, isInverse: false };
    else if (code === 39) next = { ...next, color: undefined };
    else if (colors[code]) next = { ...next, color: colors[code] };
  }
  return next;
}

/** A run of text in one style. `textLength` keeps the columns aligned in every font. */
function run(text: string, style: Style, { row, column }: { row: number; column: number }): string {
  const cells = [...text].length;
  const top = margin + row * cell.height;
  const color = style.color ?? foreground;
  const elements: string[] = [];
  if (style.isInverse && cells > 0) {
    elements.push(
      `<rect x="${x(column)}" y="${top}" width="${length(cells)}" height="${cell.height}" fill="${color}"/>`,
    );
  }
  const fill = style.isInverse ? background : style.color;
  const attributes = [
    ...(fill ? [` fill="${fill}"`] : []),
    ...(style.isBold ? [' font-weight="bold"'] : []),
    ...(style.isDim ? [' opacity="0.55"'] : []),
  ].join('');
  // Table cells are placed one by one, so that no font can shift a column.
  for (const { 0: words, index } of text.matchAll(/\S+(?: \S+)*/g)) {
    const at = x(column + [...text.slice(0, index)].length);
    const width = length([...words].length);
    elements.push(
      `<text x="${at}" y="${top + 13}" textLength="${width}"${attributes}>${escaped(words)}</text>`,
    );
  }
  return elements.join('\n');
}

const x = (column: number) => (margin + column * cell.width).toFixed(1);
const length = (cells: number) => (cells * cell.width).toFixed(1);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
