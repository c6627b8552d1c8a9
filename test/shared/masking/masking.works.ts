import { maskJsonText } from '../../../src/shared/masking/mask-json.ts';
import type { CountedWork } from '../../support/counted-thread.ts';

const many = <T>(size: number, make: (at: number) => T) => Array.from({ length: size }, (_, at) => make(at));
const masking = (value: unknown) => {
  const text = JSON.stringify(value);
  return () => maskJsonText(text).length;
};
const secretAt = (at: number) => `x7Kq${at}Lm93Tz`;

export const works: Record<string, CountedWork> = {
  'MCP servers that are members of one object': (size) =>
    masking(
      Object.fromEntries(
        many(size, (at) => [`k${at}`, { type: 'mcp', server_url: `https://h/${secretAt(at)}/mcp` }]),
      ),
    ),
  'parameters with a secret each': (size) =>
    masking(many(size, (at) => `https://h/?sig=${secretAt(at)}`).join(' ')),
  'strings that repeat one secret': (size) =>
    masking([`https://h/?sig=${secretAt(1)}`, ...many(size, () => `it is ${secretAt(1)}`)]),
};
