import { escapeControls } from '../../output/escape-controls.ts';
import { cutToWidth, graphemesOf, paintedWidth, styleCode, widthOf } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';

/** Cuts or pads a text to exactly `width` cells. */
export function fitCell(
  text: string,
  width: number,
  { align }: { align?: 'right' | undefined } = {},
): string {
  if (width <= 0) return '';
  const cut = cutToWidth(text, width);
  const blank = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'right' ? blank + cut : cut + blank;
}

const styleEnd = '\u001b[0m';

/** Cuts or pads a line that may contain styles to exactly `width` cells. A style that is cut off is closed. */
export function fitPainted(line: string, width: number): string {
  const lineWidth = paintedWidth(line);
  if (lineWidth <= width) return line + ' '.repeat(width - lineWidth);
  let room = width - 1;
  let kept = '';
  let at = 0;
  for (const { 0: code, index } of [...line.matchAll(styleCode), { 0: '', index: line.length }]) {
    for (const grapheme of graphemesOf(line.slice(at, index))) {
      room -= widthOf(grapheme);
      if (room < 0) {
        const end = kept.includes('\u001b') ? styleEnd : '';
        return `${kept}…${end}${' '.repeat(Math.max(0, width - 1 - paintedWidth(kept)))}`;
      }
      kept += grapheme;
    }
    kept += code;
    at = index + code.length;
  }
  return kept;
}

/** Untrusted text as wrapped lines; control characters are made visible. */
export function untrustedLines(text: string, width: number): string[] {
  const lines = escapeControls(text).replace(/\t/g, '  ').split('\n');
  return lines.flatMap((line) => wrapLine(line, width));
}
