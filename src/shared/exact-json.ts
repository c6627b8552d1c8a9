/** JSON whose numbers keep the digits that JavaScript's numbers lose. */

/** Node's JSON with the source text of numbers, which TypeScript does not describe. */
const exactJson = JSON as unknown as {
  parse(
    text: string,
    revive: (this: unknown, name: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /** A value that `JSON.stringify` writes as this text. */
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): value is { rawJSON: string };
};

/** Parses JSON; a number that would be written differently becomes a value that `JSON.stringify` writes as it was. */
export function parseExactly(text: string): unknown {
  return exactJson.parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exactJson.rawJSON(source)
      : value,
  );
}

/** More digits than JavaScript's numbers are sure to keep. */
const longNumber = /\d{16}/;

/**
 * Parses JSON; whole numbers in `const` and `enum`, the values that a JSON schema allows, keep all digits. All other numbers
 * are numbers. Fails like `JSON.parse`.
 */
export function parseWithExactConstants(text: string): unknown {
  const hasConstants = text.includes('"const"') || text.includes('"enum"');
  if (!hasConstants || !longNumber.test(text)) return JSON.parse(text);
  return exactJson.parse(text, function revive(name, value, { source }) {
    if (isInexact(value) && source !== undefined && (name === 'const' || Array.isArray(this)))
      return exactJson.rawJSON(source);
    // The items of a list are seen before its name.
    if (Array.isArray(value) && name !== 'enum' && value.some(exactJson.isRawJSON))
      return value.map((item) => (exactJson.isRawJSON(item) ? Number(item.rawJSON) : item));
    return value;
  });
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
}
