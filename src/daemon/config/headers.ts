import { type Static, Type } from 'typebox';

/** Headers that go with all that is asked of a provider, as they are written: a text, or the variable that holds it. */
export const WrittenHeaders = Type.Record(
  Type.String(),
  Type.Union([
    Type.String({ description: 'text' }),
    Type.Object({ env: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  ]),
  { description: 'a map of headers to texts, or to { env: NAME } for what a variable holds' },
);

export type WrittenHeaders = Static<typeof WrittenHeaders>;

/** The same as they are sent. */
export interface ConfiguredHeaders {
  /** By their names in lower case. */
  values: Record<string, string>;
  /** A variable that is named and not set. */
  lacking: string | undefined;
}

/** What the connection and the body say, which nobody else can. */
const reserved = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...[
    'content-length',
    'content-type',
    'content-encoding',
    'accept',
    'accept-encoding',
    'proxy-authorization',
  ],
]);

const nameForm = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Bytes of a header, source: RFC 9110, section 5.5. */
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

export function headersOf(
  written: WrittenHeaders | undefined,
  env: Record<string, string | undefined>,
): ConfiguredHeaders {
  const values: Record<string, string> = {};
  let lacking: string | undefined;
  for (const [name, value] of Object.entries(written ?? {})) {
    const text = typeof value === 'string' ? value : env[value.env]?.trim();
    if (text && valueForm.test(text)) values[name.toLowerCase()] = text;
    else if (typeof value !== 'string') lacking ??= value.env;
  }
  return { values, lacking };
}

/** What is wrong with each header, by its name. */
export function headerFaults(written: WrittenHeaders): { name: string; message: string }[] {
  return Object.entries(written).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (!nameForm.test(lower)) return [{ name, message: 'this is no name of a header' }];
    if (reserved.has(lower)) return [{ name, message: `the header ${lower} is set by the gateway itself` }];
    if (typeof value === 'string' && !valueForm.test(value))
      return [{ name, message: `the header ${lower} holds what no header can` }];
    return [];
  });
}
