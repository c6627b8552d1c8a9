import { type Static, Type } from 'typebox';
import { bareValue } from '../../shared/text/bare-value.ts';

/** Additional headers for a provider as configured: a text, or the variable that contains it. */
export const WrittenHeaders = Type.Record(
  Type.String(),
  Type.Union([
    Type.String({ description: 'text' }),
    Type.Object({ env: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  ]),
  { description: 'a map of headers to texts, or to { env: NAME } for the value of a variable' },
);

export type WrittenHeaders = Static<typeof WrittenHeaders>;

/** The headers as they are sent. */
export interface ConfiguredHeaders {
  /** By lowercase name. */
  values: Record<string, string>;
  /** A referenced variable that is not set. */
  lacking: string | undefined;
}

/** Headers that depend on the connection and the body. */
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
/** Valid header characters, source: RFC 9110, section 5.5. */
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

export function headersOf(
  written: WrittenHeaders | undefined,
  env: Record<string, string | undefined>,
): ConfiguredHeaders {
  const values: Record<string, string> = {};
  let lacking: string | undefined;
  for (const [name, value] of Object.entries(written ?? {})) {
    const text = typeof value === 'string' ? value : bareValue(env[value.env] ?? '');
    if (text && valueForm.test(text)) values[name.toLowerCase()] = text;
    else if (typeof value !== 'string') lacking ??= value.env;
  }
  return { values, lacking };
}

/** The faults of headers, by name. */
export function headerFaults(written: WrittenHeaders): { name: string; message: string }[] {
  return Object.entries(written).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (!nameForm.test(lower)) return [{ name, message: 'this is not a valid header name' }];
    if (reserved.has(lower)) return [{ name, message: `the header ${lower} is set by the gateway itself` }];
    if (typeof value === 'string' && !valueForm.test(value))
      return [{ name, message: `the value of the header ${lower} has invalid characters` }];
    return [];
  });
}
