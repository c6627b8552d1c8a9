import { listOf } from '../../../../shared/json/json-object.ts';
import { withoutBillingLine } from '../../../../shared/text/billing-line.ts';
import { isObject, type Json, objectsOf } from '../../json.ts';

/**
 * A body without the line of Claude Code that is meant for Anthropic, whose messages alternate and are the user's and the assistant's only, as other servers with this format demand.
 * Leading system messages join `system`; later ones become the user's, so that the beginning of the prompt stays the same.
 * The same body if it is already so, or if it changes tools on the way, which only servers understand that take these messages.
 */
export function withPlainTurns(body: Json): Json {
  const { messages } = body;
  if (hasBillingLine(body.system)) return withPlainTurns({ ...body, system: systemWithoutLine(body.system) });
  if (!Array.isArray(messages) || isPlain(messages) || messages.some(changesTools)) return body;
  const first = messages.findIndex((message) => !isInstruction(message));
  // A conversation of instructions only: the last one is the prompt.
  const leading = first < 0 ? messages.length - 1 : first;
  const plain: Json[] = [];
  for (const message of messages.slice(leading)) {
    const turn = isInstruction(message) ? { ...message, role: 'user' } : message;
    const last = plain.at(-1);
    if (last !== undefined && last.role === turn.role) plain[plain.length - 1] = joined(last, turn);
    else plain.push(turn);
  }
  if (leading === 0) return { ...body, messages: plain };
  const instructions = messages.slice(0, leading).flatMap(({ content }) => blocksOf(content));
  return { ...body, system: [...blocksOf(body.system), ...instructions], messages: plain };
}

function hasBillingLine(system: unknown): boolean {
  return systemTexts(system).some((text) => withoutBillingLine(text) !== text);
}

function systemTexts(system: unknown): string[] {
  if (typeof system === 'string') return [system];
  return objectsOf(system).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

function systemWithoutLine(system: unknown): unknown {
  if (typeof system === 'string') return withoutBillingLine(system) || undefined;
  const blocks = objectsOf(system).flatMap((block): Json[] => {
    if (typeof block.text !== 'string') return [block];
    const text = withoutBillingLine(block.text);
    return text === '' ? [] : [{ ...block, text }];
  });
  return blocks.length > 0 ? blocks : undefined;
}

function isPlain(messages: unknown[]): boolean {
  return messages.every((message, at) => {
    const before = messages[at - 1];
    return (
      !isInstruction(message) && !(isObject(message) && isObject(before) && message.role === before.role)
    );
  });
}

function changesTools(message: unknown): boolean {
  return (
    isObject(message) &&
    isInstruction(message) &&
    objectsOf(message.content).some(({ type }) => /^tool_(addition|removal)$/.test(String(type)))
  );
}

function isInstruction(message: unknown): boolean {
  return isObject(message) && message.role === 'system';
}

/** Results of tools come first, as the format demands. */
function joined(last: Json, { content }: Json): Json {
  const blocks = [...blocksOf(last.content), ...blocksOf(content)];
  const isResult = (block: unknown) => isObject(block) && block.type === 'tool_result';
  const results = blocks.filter(isResult);
  return { ...last, content: [...results, ...blocks.filter((block) => !isResult(block))] };
}

function blocksOf(content: unknown): unknown[] {
  if (typeof content !== 'string') return listOf(content);
  return content.trim() === '' ? [] : [{ type: 'text', text: content }];
}
