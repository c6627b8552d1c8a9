import type { InferenceEvent } from '../../../features/upstreams/neutral.ts';
import { isObject, type Json, objectsOf } from '../../json.ts';
import { type ReasoningPiece, reasoningOf } from './reasoning.ts';

/** The members of a delta of text or thoughts. */
const textMembers = new Set(['role', 'content', 'reasoning_content', 'reasoning', 'reasoning_text']);

/** What a chunk adds to the answer, if that is a text or a thought and nothing else. */
export function addedBy(
  { choices }: Json,
  [event, ...others]: readonly InferenceEvent[],
): { text: string; thought: ReasoningPiece | undefined } | undefined {
  const [choice, ...otherChoices] = objectsOf(choices);
  const { delta } = choice ?? {};
  if (others.length > 0 || otherChoices.length > 0 || !isObject(delta)) return undefined;
  for (const name in delta)
    if (!textMembers.has(name) && hasContent({ [name]: delta[name] })) return undefined;
  if (event?.type === 'text')
    return event.logprobs === undefined ? { text: event.delta, thought: undefined } : undefined;
  const thought = event?.type === 'reasoning' ? reasoningOf(delta) : undefined;
  return thought && { text: thought.text, thought };
}

/** OpenAI's limit. */
const choicesMax = 128;

/** A missing index means that there is only one choice. */
export function indexOf({ index }: Json): number {
  return typeof index === 'number' ? index : 0;
}

export function isPosition(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < choicesMax;
}

/** Whether a delta contains more than a role. */
export function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false;
  const { role: _role, ...rest } = delta;
  return Object.values(rest).some((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value),
  );
}

/** Adds missing arguments to a call that has a piece in this delta; false if it has none. */
export function fillIn(delta: unknown, missing: Json): boolean {
  const pieces = isObject(delta) && Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  const piece = pieces.find((each) => isObject(each) && each.index === missing.index);
  if (piece === undefined) return false;
  const { arguments: rest } = missing.function as { arguments: string };
  piece.function = { ...piece.function, arguments: `${piece.function?.arguments ?? ''}${rest}` };
  return true;
}
