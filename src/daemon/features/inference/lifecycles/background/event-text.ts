import type { EventBatch } from './background-store.ts';

/** Ends each event; JSON cannot hold a raw line end, so nothing inside an event looks like it. */
const blankLine = '\n\n';

/** How many events a text of whole server-sent events holds. */
export function countEvents(text: string): number {
  let count = 0;
  for (let at = text.indexOf(blankLine); at >= 0; at = text.indexOf(blankLine, at + 2)) count += 1;
  return count;
}

/** What a batch holds after a sequence: all of it, where it begins later. Sequences rise by one from event to event. */
export function textAfter({ text, lastSequence }: EventBatch, sequence: number): string {
  if (sequence >= lastSequence) return '';
  let skipped = sequence - (lastSequence - countEvents(text));
  let start = 0;
  for (; skipped > 0; skipped -= 1) start = text.indexOf(blankLine, start) + blankLine.length;
  return text.slice(start);
}

/** Leaves the gateway's own events out of a text, for clients that refuse what they do not know. */
export function withoutServiceEvents(text: string): string {
  if (!text.includes('event: service:')) return text;
  return text
    .split(blankLine)
    .filter((event) => !event.startsWith('event: service:'))
    .join(blankLine);
}
