import { answerPieces, type CallPiece, requestPieces } from '../../../shared/comparison/call-pieces.ts';
import { isObject, parseObject } from '../../../shared/json/json-object.ts';
import type { ContentPreview } from '../../features/capture/index.ts';
import type { ContentRecord, StoredText } from './content-record.ts';
import type { ContentShelf } from './content-shelf.ts';
import { endOfString } from './json-spans.ts';
import { unpack } from './packed.ts';

/** Of a question or an answer. */
const previewCharactersMax = 200;
/** Shorter texts are read as a whole. */
const wholeBytesMax = 64 * 1024;
/** In a longer request, the last question is looked for in so many bytes at its end. */
const tailBytesMax = 1024 * 1024;

/** What a call was asked last, and the beginning of what it was answered, each on one line. */
export function previewOf(shelf: ContentShelf, { requestId, body, answer }: ContentRecord): ContentPreview {
  return { requestId, question: body && questionIn(shelf, body), answer: answer && answerIn(shelf, answer) };
}

function questionIn(shelf: ContentShelf, stored: StoredText): string | null {
  const whole = stored.bytes <= wholeBytesMax ? parseObject(textOf(shelf, stored)) : undefined;
  if (whole) return lastSaid(requestPieces(whole));
  let looked = 0;
  for (const id of stored.parts.toReversed()) {
    const part = shelf.part(id);
    if (part === undefined) continue;
    const text = unpack(part.packed).toString();
    const messages = messagesIn(text);
    const said = lastSaid(requestPieces({ messages }));
    if (said !== null) return said;
    looked += text.length;
    if (looked > tailBytesMax) break;
  }
  return inputIn(shelf, stored);
}

/** A request that is one long text. */
function inputIn(shelf: ContentShelf, { parts }: StoredText): string | null {
  for (const id of parts) {
    const part = shelf.part(id);
    const [, text] =
      /"input": ?"((?:[^"\\]|\\.){1,400})/.exec(part ? unpack(part.packed).toString() : '') ?? [];
    if (text !== undefined) return oneLine(parsedText(text));
  }
  return null;
}

function parsedText(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`);
  } catch {
    return escaped;
  }
}

function answerIn(shelf: ContentShelf, stored: StoredText): string | null {
  const whole = stored.bytes <= tailBytesMax ? parseObject(textOf(shelf, stored)) : undefined;
  if (whole === undefined) return null;
  const pieces = answerPieces(whole);
  for (const piece of pieces) {
    const text = saidIn(piece);
    if (text !== '') return oneLine(text);
  }
  const called = pieces.map(({ value }) => calledIn(value)).find((name) => name !== undefined);
  return called === undefined ? null : `→ ${called}`;
}

/** The last text of the user; null without one. */
function lastSaid(pieces: readonly CallPiece[]): string | null {
  const said = pieces.findLast((piece) => piece.role === 'user' && saidIn(piece) !== '');
  return said ? oneLine(saidIn(said)) : null;
}

function saidIn({ path, value }: CallPiece): string {
  if (/\.reasoning(_content)?$/.test(path)) return '';
  if (typeof value === 'string') return value.trim();
  if (!isObject(value)) return '';
  const { type, text, refusal } = value;
  const said = /(^|_)text$/.test(String(type ?? '')) ? text : type === 'refusal' ? refusal : '';
  return typeof said === 'string' ? said.trim() : '';
}

/** The tool that is called: `read_file`. */
function calledIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { name } = isObject(value.function) ? value.function : value;
  return typeof name === 'string' ? name : undefined;
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * previewCharactersMax)
    .replace(/\s+/g, ' ')
    .trim();
  return (
    line.length > previewCharactersMax ? `${line.slice(0, previewCharactersMax - 1)}…` : line
  ).toWellFormed();
}

function textOf(shelf: ContentShelf, { parts }: StoredText): string {
  return parts
    .map((id) => shelf.part(id))
    .reduce((text, part) => text + (part ? unpack(part.packed) : ''), '');
}

/** The messages of the user that are whole in a part of a request. */
function messagesIn(text: string): unknown[] {
  const messages: unknown[] = [];
  const open: { start: number; isUsers: boolean }[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{') open.push({ start: at, isUsers: false });
    else if (character === '}') {
      const closed = open.pop();
      const message = closed?.isUsers ? parseObject(text.slice(closed.start, at + 1)) : undefined;
      if (message?.role === 'user') messages.push(message);
    } else if (character === '"') {
      const end = endOfString(text, at);
      const last = open.at(-1);
      if (last && text.slice(at, end) === '"role"')
        last.isUsers = /^\s?:\s?"user"/.test(text.slice(end, end + 12));
      at = end - 1;
    }
  }
  return messages;
}
