import { isJsonText, isObject, type JsonObject, parseObject } from '../../../shared/json/json-object.ts';

/** What a hook decided. */
export type Verdict =
  | { action: 'pass' }
  | { action: 'change'; changed: JsonObject }
  | { action: 'refuse'; message: string };

/** How a program or an address answered. */
export type HookReply = { kind: 'answer'; text: string } | { kind: 'refusal'; message: string };

const messageCharactersMax = 1_000;
const actions = '"pass", "change" or "refuse"';

/** The answer of a hook cannot be understood; the message says why. */
export class HookFailure extends Error {
  override readonly name = 'HookFailure';
}

/** Reads an answer; an empty one passes. Fails with a `HookFailure`. */
export function readVerdict(reply: HookReply): Verdict {
  if (reply.kind === 'refusal') return { action: 'refuse', message: sentenceOf(reply.message) };
  if (reply.text.trim() === '') return { action: 'pass' };
  const answer = parseObject(reply.text);
  if (answer === undefined) throw new HookFailure('its answer is not a JSON object');
  switch (answer.action) {
    case 'pass':
      return { action: 'pass' };
    case 'change':
      return { action: 'change', changed: answer };
    case 'refuse':
      return { action: 'refuse', message: sentenceOf(answer.message) };
    default:
      throw new HookFailure(`its answer has no action ${actions}`);
  }
}

function sentenceOf(message: unknown): string {
  const text = typeof message === 'string' ? message.trim() : '';
  return text === '' ? 'It gave no reason.' : text.slice(0, messageCharactersMax);
}

/** A text or a tool call of an answer. */
export type AnswerPart =
  | { type: 'text'; text: string }
  | { type: 'tool_call'; name: string; arguments: string };

/** The parts of a changed answer: as many as before, of the same types. Fails with a `HookFailure`. */
export function readChangedParts({ answer }: JsonObject, before: readonly AnswerPart[]): AnswerPart[] {
  if (!Array.isArray(answer) || answer.length !== before.length)
    throw new HookFailure(`its change has no answer with ${before.length} parts`);
  return before.map((part, at) => {
    const changed: unknown = answer[at];
    if (!isObject(changed) || changed.type !== part.type)
      throw new HookFailure(`part ${at} of its change is not of type ${part.type}`);
    const text = part.type === 'text' ? changed.text : changed.arguments;
    if (typeof text !== 'string') throw new HookFailure(`part ${at} of its change has no text`);
    if (part.type === 'tool_call' && isJsonText(part.arguments) && !isJsonText(text))
      throw new HookFailure(`the arguments of part ${at} of its change are not JSON`);
    return part.type === 'text' ? { ...part, text } : { ...part, arguments: text };
  });
}
