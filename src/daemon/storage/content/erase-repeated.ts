import { hash } from 'node:crypto';
import { type ContentRecord, textsOf } from './content-record.ts';
import type { ContentShelf } from './content-shelf.ts';
import type { ContentShelves } from './content-shelves.ts';
import { contentStrings, withoutStrings } from './content-strings.ts';
import { pack, unpack } from './packed.ts';

/** What stands for a text that was deleted with another call. */
const deletedText = '[deleted]';
/** Longer texts are known by their digest. */
const keyCharactersMax = 64;

/**
 * Removes what calls introduced from the requests of later calls, which repeat it in parts of their own: short messages next to
 * others, and answers, which come back as messages. To be run before the records and parts of these calls are removed. Yields
 * between calls, as there may be many.
 */
export function* eraseRepeated(
  shelves: ContentShelves,
  workspaceId: string,
  isRemoved: (record: ContentRecord) => boolean,
): Generator<void, void> {
  const removed = new Set<number>();
  /** By text: the call that introduced it. */
  const introduced = new Map<string, number>();
  for (const { shelf, record } of shelves.newestFirst(workspaceId)) {
    if (isRemoved(record)) {
      removed.add(record.number);
      for (const { number, text } of partsOf(shelf, record, new Set()))
        if (number === record.number)
          for (const { value } of contentStrings(text)) introduced.set(keyOf(value), number);
    }
    yield;
  }
  const seen = new Map<ContentShelf, Set<number>>();
  const repeating: { shelf: ContentShelf; id: number }[] = [];
  for (const { shelf, record } of shelves.newestFirst(workspaceId)) {
    if (introduced.size === 0) return;
    if (removed.has(record.number)) continue;
    const known = seen.get(shelf) ?? new Set<number>();
    seen.set(shelf, known);
    for (const { id, number, text, isAsked } of partsOf(shelf, record, known)) {
      if (removed.has(number)) continue;
      let isRepeating = false;
      for (const { value } of contentStrings(text)) {
        const key = keyOf(value);
        const by = introduced.get(key);
        if (by === undefined) continue;
        // An earlier call has it, too.
        if (number < by) introduced.delete(key);
        else isRepeating ||= isAsked;
      }
      if (isRepeating) repeating.push({ shelf, id });
    }
    yield;
  }
  for (const { shelf, id } of repeating) {
    const part = shelf.part(id);
    const text = part && unpack(part.packed).toString();
    const kept = text && withoutStrings(text, (value) => introduced.has(keyOf(value)), deletedText);
    if (kept !== undefined && kept !== '') shelf.replacePart(id, pack(Buffer.from(kept), { isCut: true }));
    yield;
  }
}

interface Part {
  id: number;
  /** The call that introduced it. */
  number: number;
  text: string;
  /** Whether it is of the request, or of what was sent for it. */
  isAsked: boolean;
}

/** The parts of a call that are not known yet. */
function* partsOf(shelf: ContentShelf, record: ContentRecord, known: Set<number>): Generator<Part, void> {
  const asked = new Set([record.body, ...record.attempts.map(({ body }) => body)]);
  for (const stored of textsOf({ ...record, reads: null })) {
    for (const id of stored.parts) {
      if (known.has(id)) continue;
      known.add(id);
      const part = shelf.part(id);
      if (part === undefined) continue;
      yield { id, number: part.number, text: unpack(part.packed).toString(), isAsked: asked.has(stored) };
    }
  }
}

/** Clients trim what they repeat. */
function keyOf(value: string): string {
  const trimmed = value.trim();
  return trimmed.length > keyCharactersMax ? hash('sha256', trimmed, 'base64') : trimmed;
}
