import { encode } from 'uqr';

/**
 * A QR code in half blocks with a quiet zone around it: dark on light with colours, and otherwise in the terminal's own
 * colours, which are taken to be light on dark.
 */
export function qrCode(text: string, { hasColors }: { hasColors: boolean }): string {
  const { data } = encode(text, { ecc: 'L', border: 2 });
  const isDrawn = (row: number, column: number) => (data[row]?.[column] ?? false) === hasColors;
  const lines: string[] = [];
  for (let row = 0; row < data.length; row += 2) {
    const cells = (data[row] ?? []).map((_, column) => {
      const [upper, lower] = [isDrawn(row, column), isDrawn(row + 1, column)];
      if (upper) return lower ? '█' : '▀';
      return lower ? '▄' : ' ';
    });
    lines.push(hasColors ? `\u001b[30;47m${cells.join('')}\u001b[0m` : cells.join(''));
  }
  return `${lines.join('\n')}\n`;
}
