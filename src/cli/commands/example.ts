/** The end of a command's help: one line that can be typed as it stands. */
export function example(line: string): string {
  return `\nExample:\n  $ ${line}`;
}
