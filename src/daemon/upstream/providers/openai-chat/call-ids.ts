import { createHash } from 'node:crypto';

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id of nine letters or digits, as Mistral demands: the id itself where it already is one, else one made from it.
 * The same id always gives the same one, so that calls and their outputs stay together through every replay.
 */
export function shortCallId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest();
  let short = '';
  for (let i = 0; i < 9; i += 1) short += letters[digest.readUInt16BE(i * 2) % letters.length];
  return short;
}
