import type { Address } from '../../shared/client.ts';
import type { Endpoint, Input } from '../../shared/contract/endpoint.ts';
import { byteOrderMark } from '../../shared/text/csv.ts';
import { text as textOf } from './api.ts';

/** Lets the browser save a text, or the pieces of one, as a file; CSV so that spreadsheets read it as UTF-8. */
export function saveText(name: string, text: string | readonly string[], type: string): void {
  const pieces = typeof text === 'string' ? [text] : [...text];
  if (name.endsWith('.csv')) pieces.unshift(byteOrderMark);
  const url = URL.createObjectURL(new Blob(pieces, { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it by the time that the next task runs.
  setTimeout(() => URL.revokeObjectURL(url));
}

/** Reads an answer that is no JSON document; `onLength` gets the characters so far. */
export async function readAll<E extends Endpoint>(
  endpoint: Address<E>,
  input: Input<E>,
  { signal, onLength }: { signal?: AbortSignal; onLength?: (characters: number) => void } = {},
): Promise<string[]> {
  const pieces: string[] = [];
  let length = 0;
  for await (const piece of textOf(endpoint, input, signal ? { signal } : {})) {
    pieces.push(piece);
    length += piece.length;
    onLength?.(length);
  }
  return pieces;
}
