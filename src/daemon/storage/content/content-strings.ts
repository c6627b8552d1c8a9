import { endOfString, skipSpace } from './json-spans.ts';

/** A string in a JSON text that someone or a model said, and where its token is. */
export interface ContentString {
  value: string;
  start: number;
  end: number;
}

/** The members that say something, in requests and answers of all formats; others have names, kinds and settings. */
const saidMembers: ReadonlySet<string> = new Set([
  ...['content', 'text', 'input', 'instructions', 'system', 'prompt', 'suffix', 'output', 'result'],
  ...['thinking', 'reasoning', 'reasoning_content', 'summary', 'refusal', 'arguments', 'partial_json'],
  ...['description', 'title', 'query', 'context', 'filename'],
  ...['data', 'file_data', 'url', 'file_url', 'image_url'],
]);
/** The members that are objects of any names, such as what a tool is called with. */
const freeMembers: ReadonlySet<string> = new Set(['input', 'args', 'arguments', 'response', 'output']);

interface Level {
  /** The member whose value it is; undefined for an element, or if it began before the text. */
  member: string | undefined;
  /** Whether all strings in it were said. */
  isFree: boolean;
}

/** The strings that were said in a part of a JSON text, which may begin and end within objects and arrays. */
export function* contentStrings(text: string): Generator<ContentString> {
  const levels: Level[] = [];
  /** The name before the next value. */
  let member: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') {
      const isFree = character === '{' && member !== undefined && freeMembers.has(member);
      levels.push({ member, isFree: isFree || (levels.at(-1)?.isFree ?? false) });
      member = undefined;
    } else if (character === '}' || character === ']') {
      levels.pop();
      member = undefined;
    } else if (character === ',') member = undefined;
    else if (character === '"') {
      const end = endOfString(text, at);
      const value = stringAt(text, at, end);
      if (text[skipSpace(text, end)] === ':') member = value;
      else {
        if (value !== '' && wasSaid(member, levels.at(-1))) yield { value, start: at, end };
        member = undefined;
      }
      at = end - 1;
    }
  }
}

/** An element of an array is of the array's member; one whose array began before the text may be a message. */
function wasSaid(member: string | undefined, level: Level | undefined): boolean {
  const name = member ?? level?.member;
  return level?.isFree === true || name === undefined || saidMembers.has(name);
}

/** The text with what `isRemoved` selects replaced; undefined if that is nothing. */
export function withoutStrings(
  text: string,
  isRemoved: (value: string) => boolean,
  replacement: string,
): string | undefined {
  let kept = '';
  let end = 0;
  for (const string of contentStrings(text)) {
    if (!isRemoved(string.value)) continue;
    kept += text.slice(end, string.start) + JSON.stringify(replacement);
    end = string.end;
  }
  return end === 0 ? undefined : kept + text.slice(end);
}

function stringAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(text.slice(start, end));
  } catch {
    return raw;
  }
}
