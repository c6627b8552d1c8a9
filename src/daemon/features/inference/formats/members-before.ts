import type { Json } from '../../../../shared/faults/invalid-request.ts';

/** The members of a JSON object before one of them, and their text; undefined if it has no such member or none before. */
export function membersBefore(raw: string, name: string): { text: string; members: Json } | undefined {
  const key = `"${name}":`;
  const text = raw.slice(0, Math.max(0, raw.indexOf(key)));
  try {
    // What is no member of the object itself leaves text that does not end here.
    const { [name]: end, ...members } = JSON.parse(`${text}${key}0}`) as Json;
    return end === 0 ? { text, members } : undefined;
  } catch {
    return undefined;
  }
}
