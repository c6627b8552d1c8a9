/** Source: ECMA-48, select graphic rendition. */
const codes = {
  bold: 1,
  dim: 2,
  italic: 3,
  underline: 4,
  inverse: 7,
  red: 31,
  green: 32,
  yellow: 33,
  cyan: 36,
} as const;

export type Style = keyof typeof codes;

export type Paint = (style: Style | undefined, text: string) => string;

/** Returns a function that colours text, or leaves it unchanged. */
export function painter(wanted: boolean): Paint {
  if (!wanted) return (_style, text) => text;
  return (style, text) => (style ? `\u001b[${codes[style]}m${text}\u001b[0m` : text);
}
