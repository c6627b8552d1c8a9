import type { ContentMatch, ContentMatches, ContentSearch } from '../../features/capture/index.ts';
import type { ContentRecord, StoredText } from './content-record.ts';
import type { ContentShelf } from './content-shelf.ts';
import type { ContentShelves } from './content-shelves.ts';
import { unpack } from './packed.ts';

/** Of the text before and after a match. */
const snippetCharacters = 60;

/**
 * Searches the newest calls first, for a limited time. A text that later calls repeat is found in the call that introduced it,
 * so that a conversation matches once.
 */
export function searchContent(
  shelves: ContentShelves,
  { workspaceId, text, keyId, since, until, after, limit }: ContentSearch,
  untilMs: number,
): ContentMatches {
  const start = after === undefined ? undefined : shelves.find(after)?.record.number;
  const of = after === undefined ? { of: callsOf(shelves, workspaceId) } : {};
  // Without that call, nothing older is left.
  if (after !== undefined && start === undefined) return { matches: [], scanned: 0, ...of, next: null };
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'iu');
  const matches: ContentMatch[] = [];
  let scanned = 0;
  let last: string | null = null;
  for (const { shelf, record } of shelves.newestFirst(workspaceId, start)) {
    // Each search looks at one call at least, so that it comes to an end.
    if ((performance.now() > untilMs && scanned > 0) || matches.length >= limit)
      return { matches, scanned, ...of, next: last };
    last = record.requestId;
    scanned += 1;
    if (keyId !== undefined && record.keyId !== keyId) continue;
    if (until !== undefined && record.at >= until) continue;
    if (since !== undefined && record.at < since) break;
    const match = matchIn(shelf, record, pattern);
    if (match) matches.push(match);
  }
  return { matches, scanned, ...of, next: null };
}

function callsOf(shelves: ContentShelves, workspaceId: string): number {
  return shelves.all().reduce((sum, shelf) => sum + shelf.count(workspaceId), 0);
}

function matchIn(shelf: ContentShelf, record: ContentRecord, pattern: RegExp): ContentMatch | undefined {
  const { body, answer, attempts, requestId, at } = record;
  const sent = attempts.flatMap((attempt) => [attempt.body, attempt.refusal]);
  const texts: [ContentMatch['part'], StoredText | null][] = [
    ['request', body],
    ['answer', answer],
    ...sent.map((text): [ContentMatch['part'], StoredText | null] => ['attempt', text]),
  ];
  for (const [part, text] of texts) {
    for (const id of text?.parts ?? []) {
      const known = shelf.part(id);
      if (known?.number !== record.number) continue;
      const found = snippetOf(readable(unpack(known.packed).toString()), pattern);
      if (found) return { requestId, at, part, ...found };
    }
  }
  return undefined;
}

function snippetOf(text: string, pattern: RegExp) {
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const from = Math.max(0, found.index - snippetCharacters);
  const end = found.index + found[0].length;
  const snippet = text.slice(from, end + snippetCharacters).toWellFormed();
  return { snippet, start: found.index - from, end: end - from };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** A part of a JSON text with its escapes replaced by what they stand for. */
function readable(json: string): string {
  if (!json.includes('\\')) return json;
  return json.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code: string | undefined, character: string) =>
    code === undefined ? (escapes[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
