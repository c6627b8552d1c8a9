/**
 * How providers and servers say that the input, or the input and the requested output, do not fit into the context of the model.
 * Coding agents shorten the conversation if they are told so, and are stuck otherwise.
 */
const phrases = new RegExp(
  [
    // Codes.
    /context_length_exceeded|exceed_context_size|max_prompt_tokens_exceeded|context_window_exceeded|tokens_limit_reached/,
    /context[ _-]?(length|window|size|limit)|maximum context/,
    /(prompt|input|inputs|request|conversation|messages?) (is|are|was) too (long|large for (the |this )?(model|context))/,
    /prompt too long|(prompt|input) exceeds (the )?(model's )?(max|maximum|limit|allowed)/,
    /(maximum|max) (allowed )?(prompt|input|model|sequence) (length|tokens?|size) (is|of|was|for|exceeded|limit)/,
    /exceed(s|ed)? (the )?((maximum|max) )?(allowed )?(model |total |prompt |input )?token (limit|count)/,
    /(prompt|input|request(ed)?|total) (token count|tokens|length)\b.{0,60}\b(exceeds?|exceeded|greater than|larger than|more than|over)\b/,
    /tokens in (the )?request more than max/,
    /token limit (was )?exceeded|too many (input |prompt )?tokens|max_seq_len\b.{0,40}exceed/,
    /(reduce|shorten|decrease) (the length of )?(the |your )?(messages|prompt|input\b)/,
    /range of input length should be|\b(must|should) have (less|fewer) than \d{1,7} tokens/,
    /too (large|long) for .{1,60} model\. max size: \d{1,7} tokens/,
    /\btoo (large|long) to process\b|too big compared to kv size|maximum input length is \d{1,7} tokens/,
    /`?inputs`? tokens \+ `?max_new_tokens`? must be/,
    /(prompt|输入|上下文|请求).{0,10}(超长|过长)|(输入|上下文)(长度)?.{0,6}超(过|出|限)|超(过|出).{0,10}(上下文|输入长度|最大长度)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** What limits the output alone, or the bytes of the request, says nothing about the context. */
const otherLimits =
  /^[^.]{0,80}\bmax_(completion_|output_)?tokens\b[^.]{0,40}\b(exceeds the limit|too large|too high|must be|at most)\b(?!.{0,200}\bcontext (length|window|size|limit))/i;

/** The part of a sentence that is read; the rest can only be a quotation. */
const readCharsMax = 4_000;

/** Whether an error's code or sentence says that the input is too long for the model. */
export function saysTooLong(text: string): boolean {
  const read = text.slice(0, readCharsMax);
  return phrases.test(read) && !otherLimits.test(read);
}

/** Our own sentence, with the words that clients look for. */
export const tooLongMessage = 'The prompt is too long: it exceeds the context window of the model.';
