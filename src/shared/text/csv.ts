/**
 * One cell of CSV. A text that a spreadsheet would run as a formula starts with an apostrophe, because names and models are
 * chosen by others.
 */
function csvCell(value: string | number | boolean | null | undefined): string {
  const text = String(value ?? '');
  const isFormula = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text));
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of CSV after RFC 4180, with its line end. */
export function csvRow(cells: readonly Parameters<typeof csvCell>[0][]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
