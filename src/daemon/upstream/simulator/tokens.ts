const tokenUnitsMax = 6;
/** A delta is one word; text without spaces (base64, minified JSON) is split after this many tokens. */
const tokensPerWordMax = 8;

/** A word as it is streamed, including the white space before it. */
export interface Word {
  text: string;
  tokens: string[];
}

/**
 * Counts tokens: white space and the text after it, up to the next white space and at most six UTF-16 units, never
 * splitting a character. English has about four characters per token.
 */
export function countTokens(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at = tokenEnd(text, at)) count += 1;
  return count;
}

/** The first words of `text`, at most `tokensMax` tokens; `isCut` if there is more text. */
export function takeWords(
  text: string,
  tokensMax: number,
): { words: Word[]; tokens: number; isCut: boolean } {
  const words: Word[] = [];
  let word: Word | undefined;
  let tokens = 0;
  let at = 0;
  while (at < text.length && tokens < tokensMax) {
    const end = tokenEnd(text, at);
    const token = text.slice(at, end);
    if (!word || isSpace(text.charCodeAt(at)) || word.tokens.length >= tokensPerWordMax) {
      word = { text: '', tokens: [] };
      words.push(word);
    }
    word.text += token;
    word.tokens.push(token);
    tokens += 1;
    at = end;
  }
  return { words, tokens, isCut: at < text.length };
}

function tokenEnd(text: string, start: number): number {
  let seenText = false;
  let at = start;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const space = isSpace(unit);
    if (space && seenText) break;
    if (at >= start + tokenUnitsMax && !isLowSurrogate(unit)) break;
    if (!space) seenText = true;
  }
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
