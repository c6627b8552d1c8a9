import { callEnds } from '../constants/call-statuses.ts';
import { parseTime, utcDay } from '../time/time.ts';

/** The words before a colon that name a property of a call. */
export const queryWords = [
  'status',
  'error',
  'endpoint',
  'model',
  'provider',
  'key',
  'client',
  'user',
  'conversation',
  'tag',
  'http',
  'replay',
] as const;

export type QueryWord = (typeof queryWords)[number];

/** `model:openai/*,gpt-5`: calls of which a property has one of the values, or, with a minus before it, none of them. */
export interface QueryTerm {
  word: QueryWord;
  /** `*` stands for any text, unless they are exact. */
  values: readonly string[];
  isExcluded: boolean;
  /** `client:=curl`: the values are whole texts, without patterns and versions. */
  isExact?: boolean;
}

/** What a query selects calls by. All of it has to match. */
export interface CallQuery {
  terms: readonly QueryTerm[];
  minTotalMs?: number;
  /** Decimal dollars. */
  minCostUsd?: string;
  /** A time ago, `2h`, `today` or `yesterday`, or a time or day as `parseTime` reads it. */
  since?: string;
  until?: string;
  /** What was asked or answered contains this text. */
  text?: string;
}

/** A query that could not be read, with a sentence that says why. */
export interface QueryFault {
  /** The part of the query that is wrong. */
  part: string;
  message: string;
}

const dayMs = 86_400_000;
const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
};

/** The most values of a word, and the most words. */
const valuesMax = 20;
const termsMax = 20;

/** What is read of a query, part by part. */
type Reading = { -readonly [Name in keyof CallQuery]: CallQuery[Name] } & { terms: QueryTerm[] };

/**
 * Reads a query such as `status:failed,canceled model:openai/* -client:curl tag:team=a >4s >$0.05 since:2h "some text"`. A value
 * with spaces, commas or quotation marks is in quotation marks, in which a backslash stands before a quotation mark. After an equals
 * sign, `user:="a*b"`, values mean just that text.
 */
export function parseQuery(text: string): CallQuery | QueryFault {
  const query: Reading = { terms: [] };
  for (const part of partsOf(text)) {
    const fault = readPart(part, query);
    if (fault !== undefined) return { part, message: fault };
  }
  return query;
}

export function isQueryFault(parsed: CallQuery | QueryFault): parsed is QueryFault {
  return 'message' in parsed;
}

/** Writes a query so that `parseQuery` reads the same. */
export function formatQuery({ terms, minTotalMs, minCostUsd, since, until, text }: CallQuery): string {
  const parts = terms.map(
    ({ word, values, isExcluded, isExact }) =>
      `${isExcluded ? '-' : ''}${word}:${isExact ? '=' : ''}${values.map(quoted).join(',')}`,
  );
  if (minTotalMs !== undefined) parts.push(`>${formatDuration(minTotalMs)}`);
  if (minCostUsd !== undefined) parts.push(`>$${minCostUsd}`);
  if (since !== undefined) parts.push(`since:${since}`);
  if (until !== undefined) parts.push(`until:${until}`);
  if (text !== undefined) parts.push(`"${escaped(text)}"`);
  return parts.join(' ');
}

/** The path of an endpoint, which may be written without `/v1/`. */
export function endpointPath(value: string): string {
  return value.startsWith('/') ? value : `/v1/${value}`;
}

/** The time that `since` or `until` of a query means, in a form that `parseTime` reads. `now` is in milliseconds since 1970. */
export function queryTime(value: string, now: number): string {
  if (isDayWord(value)) return utcDay(value === 'today' ? now : now - dayMs);
  const ago = durationIn(value);
  return ago === undefined ? value : new Date(now - ago).toISOString();
}

/** Whether a text stands for a day. */
export function isDayWord(text: string): text is 'today' | 'yesterday' {
  return text === 'today' || text === 'yesterday';
}

/** Whether a value of a term stands for several texts. */
export function isPattern(value: string, { isExact = false }: Pick<QueryTerm, 'isExact'>): boolean {
  return !isExact && value.includes('*');
}

/** Whether a text is one that a term means, apart from versions of clients. */
export function isMeant(text: string, { values, isExact = false }: Pick<QueryTerm, 'values' | 'isExact'>) {
  return values.some((value) => (isExact ? text === value : isLike(text, value)));
}

/** Whether a text matches a pattern in which `*` stands for any text. */
export function isLike(text: string, pattern: string): boolean {
  const [start = '', ...others] = pattern.split('*');
  if (others.length === 0) return text === pattern;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const [index, part] of others.entries()) {
    const isLast = index === others.length - 1;
    const found = isLast ? text.length - part.length : text.indexOf(part, at);
    if (found < at || !text.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}

/** Splits at spaces outside quotation marks. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  let isEscaped = false;
  for (const character of text) {
    if (character === '"' && !isEscaped) isQuoted = !isQuoted;
    isEscaped = isQuoted && character === '\\' && !isEscaped;
    if (!isQuoted && /\s/.test(character)) {
      if (part !== '') parts.push(part);
      part = '';
    } else part += character;
  }
  if (part !== '') parts.push(part);
  return parts;
}

/** Returns a sentence about what is wrong, if anything. */
function readPart(part: string, query: Reading): string | undefined {
  if (part.startsWith('"')) return readText(part, query);
  if (part.startsWith('>')) return readMinimum(part.slice(1), query);
  const isExcluded = part.startsWith('-');
  const term = isExcluded ? part.slice(1) : part;
  const end = term.indexOf(':');
  const word = term.slice(0, Math.max(0, end));
  const value = term.slice(end + 1);
  if (word === 'since' || word === 'until')
    return isExcluded ? 'A time cannot be excluded.' : readTime(word, value, query);
  const known = queryWords.find((name) => name === word);
  if (end < 0 || known === undefined) return unknownWord(word);
  return readTerm({ word: known, value, isExcluded }, query);
}

function unknownWord(word: string): string {
  const words = `The words before a colon are ${[...queryWords, 'since', 'until'].join(', ')}`;
  return word === ''
    ? `Write a filter such as status:failed, -client:curl, >4s, >$0.05 or "some text". ${words}.`
    : `There is no filter "${word}". ${words}.`;
}

function readTerm(
  { word, value, isExcluded }: { word: QueryWord; value: string; isExcluded: boolean },
  query: Reading,
): string | undefined {
  const isExact = value.startsWith('=');
  const values = valuesIn(isExact ? value.slice(1) : value);
  if (values === undefined) return 'A quotation mark is not closed, or not at the start of its value.';
  if (values.includes('')) return 'Write a value after the colon.';
  if (values.length > valuesMax) return `A filter has at most ${valuesMax} values.`;
  if (!isExcluded && query.terms.some((term) => term.word === word && !term.isExcluded))
    return 'A filter can be given once; separate several values by commas.';
  if (query.terms.length >= termsMax) return `A query has at most ${termsMax} filters.`;
  const isStatus = (status: string) =>
    callEnds.some((name) => name === status) || isPattern(status, { isExact });
  if (word === 'status' && !values.every(isStatus)) return `A status is one of ${callEnds.join(', ')}.`;
  query.terms.push({ word, values, isExcluded, ...(isExact && { isExact }) });
  return undefined;
}

const textCharactersMax = 200;

function readText(part: string, query: Reading): string | undefined {
  const [text, ...more] = valuesIn(part) ?? [];
  if (text === undefined || more.length > 0) return 'A quotation mark is not closed.';
  if (text === '') return 'Write a text between the quotation marks.';
  if (text.length > textCharactersMax) return `A text has at most ${textCharactersMax} characters.`;
  if (query.text !== undefined) return 'A text can be given once.';
  query.text = text;
  return undefined;
}

function readTime(word: 'since' | 'until', value: string, query: Reading): string | undefined {
  if (query[word] !== undefined) return 'A time can be given once.';
  const ago = durationIn(value);
  const isTime = isDayWord(value) || parseTime(value) !== undefined;
  if (ago === undefined ? !isTime : ago > agoMax)
    return 'Write a time ago such as 2h or 7d, today, yesterday, or a day such as 2026-11-21.';
  query[word] = value;
  return undefined;
}

/** `>4s` or `>$0.05`, without the first character. */
function readMinimum(value: string, query: Reading): string | undefined {
  if (value.startsWith('$')) {
    const amount = value.slice(1);
    if (!/^\d{1,7}(\.\d{1,9})?$/.test(amount)) return 'Write a cost such as >$0.05.';
    if (query.minCostUsd !== undefined) return 'A cost can be given once.';
    query.minCostUsd = amount;
    return undefined;
  }
  const ms = durationIn(value);
  if (ms === undefined || ms > durationMax) return 'Write a duration such as >4s, or a cost such as >$0.05.';
  if (query.minTotalMs !== undefined) return 'A duration can be given once.';
  query.minTotalMs = ms;
  return undefined;
}

/** Values separated by commas; undefined if a quotation mark is not closed, or in the middle of a value. */
function valuesIn(text: string): string[] | undefined {
  const values: string[] = [];
  let at = 0;
  for (;;) {
    const value = text[at] === '"' ? quotedAt(text, at) : plainAt(text, at);
    if (value === undefined) return undefined;
    values.push(value.text);
    if (value.end >= text.length) return values;
    if (text[value.end] !== ',') return undefined;
    at = value.end + 1;
  }
}

interface ReadValue {
  text: string;
  end: number;
}

function plainAt(text: string, start: number): ReadValue | undefined {
  const comma = text.indexOf(',', start);
  const end = comma < 0 ? text.length : comma;
  const value = text.slice(start, end);
  return value.includes('"') ? undefined : { text: value, end };
}

function quotedAt(text: string, start: number): ReadValue | undefined {
  let value = '';
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return { text: value, end: at + 1 };
    if (text[at] === '\\') at += 1;
    value += text[at] ?? '';
  }
  return undefined;
}

function quoted(value: string): string {
  return /^[^\s",\\=][^\s",\\]*$/.test(value) ? value : `"${escaped(value)}"`;
}

function escaped(value: string): string {
  return value.replaceAll(/["\\]/g, '\\$&');
}

const durationMax = 1_000_000_000;
/** Of a time ago: a century. */
const agoMax = 100 * 366 * 24 * 60 * 60_000;

/** Milliseconds: `4s`, `1.5m`, `250ms`. */
function durationIn(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|min|m|h|d|w)$/.exec(text) ?? [];
  const length = unitsMs[unit];
  return number === undefined || length === undefined ? undefined : Math.round(Number(number) * length);
}

function formatDuration(ms: number): string {
  return ms % 1_000 === 0 && ms > 0 ? `${ms / 1_000}s` : `${ms}ms`;
}
