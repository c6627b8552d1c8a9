import { editDistance } from '../../../shared/text/edit-distance.ts';
import { parseTime, unixSeconds } from '../../../shared/time/time.ts';

/** Longer names are not compared: no model has one. */
const comparedCharsMax = 100;

/**
 * The common form of a model's spellings: makers write `claude-opus-4-5`, resellers `claude-opus-4.5`; `-latest`, a
 * final `-0` and Ollama's `:latest`, which it adds to names without a tag, are dropped.
 */
export function canonicalName(id: string): string {
  return id
    .toLowerCase()
    .replaceAll('.', '-')
    .replace(/[-:]latest$/, '')
    .replace(/^((?:.*\/)?claude-[a-z]+-\d+)-0$/, '$1');
}

/**
 * A name without what clients add to it: `[1m]`, by which Claude Code asks for a longer context, and the end of a line from a file. The
 * same name if there is nothing.
 */
export function plainName(name: string): string {
  return name.trim().replace(/\[\d{1,3}[km]\]$/i, '');
}

/** A name without the date of its snapshot: `claude-haiku-4-5-20251001`, `claude-haiku-4-5@20251001`, `gpt-5-2025-08-07`. */
export function undatedName(name: string): string {
  return name.replace(/[-@](20[2-9]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])$/, '');
}

/** The short forms of an id: `groq/openai/gpt-oss-20b` → `openai/gpt-oss-20b`, `gpt-oss-20b`. */
export function suffixesOf(id: string): string[] {
  const suffixes: string[] = [];
  for (let slash = id.indexOf('/'); slash >= 0; slash = id.indexOf('/', slash + 1)) {
    suffixes.push(id.slice(slash + 1));
  }
  return suffixes;
}

/** The date of the earliest snapshot in a text, in Unix seconds: `gpt-5-2025-08-07`, `claude-opus-4-20250514`. */
export function snapshotTime(text: string): number | undefined {
  const dates = [...text.matchAll(/\b(20[2-9]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])\b/g)];
  const times = dates.map(([, year, month, day]) => parseTime(`${year}-${month}-${day}`));
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? unixSeconds(Math.min(...known)) : undefined;
}

/** Up to three ids similar to `name`, the most likely first. */
export function nearestNames(name: string, ids: Iterable<string>): string[] {
  if (name.length > comparedCharsMax) return [];
  const wanted = plain(name);
  const short = plain(name.slice(name.lastIndexOf('/') + 1));
  if (short === '') return [];
  const farthest = Math.max(2, Math.floor(short.length / 3));
  const found: { id: string; distance: number }[] = [];
  for (const id of ids) {
    const last = plain(id.slice(id.lastIndexOf('/') + 1));
    const distance = Math.min(
      editDistance(wanted, plain(id), farthest),
      // A typo in the family counts less than one in the name, but the right family still wins.
      editDistance(short, last, farthest) + 0.5,
      last.startsWith(short) ? 1.5 : Number.POSITIVE_INFINITY,
    );
    if (distance <= farthest) found.push({ id, distance });
  }
  found.sort((a, b) => a.distance - b.distance || a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
  return found.slice(0, 3).map(({ id }) => id);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9/]/g, '');
}
