import { userFillerText } from '../../../../shared/constants/filler-text.ts';
import { isObject, type Json, objectOf, objectsOf } from '../../json.ts';
import type { Quirks } from './quirks.ts';

/** The messages in an order, and of roles, that the model accepts. */
export function acceptedTurns(
  messages: readonly unknown[],
  { supportsAnyOrder, supportsSystemRole, supportsAnyTurns }: Quirks,
): readonly unknown[] {
  const given = supportsSystemRole ? messages : messages.map(asUser);
  if (supportsAnyOrder && supportsSystemRole && supportsAnyTurns) return given;
  return supportsAnyTurns ? plainTurns(given) : alternatingTurns(plainTurns(given));
}

/** What stands for a turn that is missing. */
const fillers: Readonly<Record<string, Json>> = {
  user: { role: 'user', content: userFillerText },
  assistant: { role: 'assistant', content: 'OK.' },
};

/** Plain turns that begin with the user's, and have one of the assistant between the output of a tool and the user. */
function alternatingTurns(messages: readonly unknown[]): readonly unknown[] {
  const turns: unknown[] = [];
  for (const message of messages) {
    const [role, before] = [objectOf(message)?.role, objectOf(turns.at(-1))?.role];
    if (role === 'assistant' && (before === undefined || before === 'system')) turns.push(fillers.user);
    if (role === 'user' && before === 'tool') turns.push(fillers.assistant);
    turns.push(message);
  }
  return turns;
}

/**
 * The messages as strict chat templates demand them: one system message, at the start, and turns that alternate. Leading
 * system messages are joined; later ones become the user's, as moving them to the front would change the beginning of the
 * prompt, which servers cache. The same list if it is already so.
 */
function plainTurns(messages: readonly unknown[]): readonly unknown[] {
  if (isPlain(messages)) return messages;
  const plain: unknown[] = [];
  const first = messages.findIndex((message) => !isInstruction(message));
  const leading = first < 0 ? messages.length : first;
  // A conversation of instructions only: the last one is the prompt.
  const instructions = messages.slice(0, first < 0 ? leading - 1 : leading).map(asSystem);
  for (const message of [...instructions, ...messages.slice(instructions.length).map(asUser)]) {
    const last = plain.at(-1);
    if (isObject(message) && isObject(last) && canJoin(last, message))
      plain[plain.length - 1] = joined(last, message);
    else plain.push(message);
  }
  return plain;
}

function isPlain(messages: readonly unknown[]): boolean {
  return messages.every((message, at) => {
    if (!isObject(message)) return true;
    if (isInstruction(message)) return at === 0 && message.role === 'system' && messages.length > 1;
    const before = messages[at - 1];
    return !(isObject(before) && canJoin(before, message));
  });
}

function isInstruction(message: unknown): boolean {
  return isObject(message) && (message.role === 'system' || message.role === 'developer');
}

function asSystem(message: unknown): unknown {
  return isObject(message) && message.role === 'developer' ? { ...message, role: 'system' } : message;
}

function asUser(message: unknown): unknown {
  return isObject(message) && isInstruction(message) ? { ...message, role: 'user' } : message;
}

/** Outputs follow the calls of one message, and participants with different names are not the same. */
function canJoin(last: Json, { role, name }: Json): boolean {
  if (last.role !== role) return false;
  if (role === 'system') return true;
  if (role === 'user') return last.name === name;
  return role === 'assistant' && objectsOf(last.tool_calls).length === 0 && !isObject(last.function_call);
}

const textMembers = ['reasoning_content', 'reasoning'];

function joined(last: Json, message: Json): Json {
  const both: Json = { ...last, ...message, content: joinedContent(last.content, message.content) };
  for (const name of textMembers) {
    const [before, after] = [last[name], message[name]];
    if (typeof before === 'string' && typeof after === 'string') both[name] = before + after;
    else if (typeof before === 'string' && name in both) both[name] = before;
  }
  if (Array.isArray(last.reasoning_details) && Array.isArray(message.reasoning_details))
    both.reasoning_details = [...last.reasoning_details, ...message.reasoning_details];
  return both;
}

function joinedContent(before: unknown, after: unknown): unknown {
  if (isEmpty(before)) return after;
  if (isEmpty(after)) return before;
  if (typeof before === 'string' && typeof after === 'string') return `${before}\n\n${after}`;
  return [...partsOf(before), ...partsOf(after)];
}

function isEmpty(content: unknown): boolean {
  return content === undefined || content === null || content === '';
}

function partsOf(content: unknown): unknown[] {
  return Array.isArray(content) ? content : [{ type: 'text', text: content }];
}
