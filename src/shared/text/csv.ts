/** What separates cells: spreadsheets of countries with decimal commas expect semicolons, and take `1.5` for a day of May. */
const csvDelimiters = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type CsvDelimiter = keyof typeof csvDelimiters;

/** At the start of a file that a person opens: spreadsheets then read it as UTF-8. */
export const byteOrderMark = '\uFEFF';

/**
 * One cell of CSV. A text that a spreadsheet would run as a formula starts with an apostrophe, because names and models are
 * chosen by others. Those of some countries take wide characters for it, too.
 */
function csvCell(value: string | number | boolean | null | undefined, delimiter: string): string {
  const plain = String(value ?? '');
  const text = delimiter === ';' ? plain.replace(/^(-?\d+)\.(\d+(?:e[+-]\d+)?)$/, '$1,$2') : plain;
  const isFormula = /^[=+\-@\t\r＝＋－＠]/.test(text) && Number.isNaN(Number(plain));
  const safe = isFormula ? `'${text}` : text;
  return /["\r\n]/.test(safe) || safe.includes(delimiter) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of CSV after RFC 4180, with its line end. */
export function csvRow(
  cells: readonly Parameters<typeof csvCell>[0][],
  delimiter: CsvDelimiter = 'comma',
): string {
  const between = csvDelimiters[delimiter];
  return `${cells.map((cell) => csvCell(cell, between)).join(between)}\r\n`;
}
