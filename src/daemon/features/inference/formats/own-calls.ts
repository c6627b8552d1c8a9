import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import { DistinctIds } from '../../../../shared/formats/distinct-ids.ts';
import { listOf, mapChanged } from '../../../../shared/json/json-object.ts';

/**
 * Chat messages whose calls and outputs are as the format has them: Cursor writes those of Claude models as blocks of the Messages format,
 * and LangChain leaves the blocks beside the calls. Each call gets an id of its own. The same list if nothing differs. Source:
 * automazeio/vibeproxy#411, langchain-ai/langchainjs#9972.
 */
export function withOwnCalls(messages: readonly unknown[]): readonly unknown[] {
  const hasBlocks = messages.some(
    (message) => isObject(message) && listOf(message.content).some(isCallBlock),
  );
  return withOwnIds(hasBlocks ? messages.flatMap(withoutBlocks) : messages);
}

/** Whether a part of a message is a call or an output of the Messages format. */
export function isCallBlock(part: unknown): part is Json {
  return isObject(part) && (part.type === 'tool_use' || part.type === 'tool_result');
}

function withoutBlocks(message: unknown): unknown[] {
  if (!isObject(message)) return [message];
  const parts = listOf(message.content);
  const blocks = parts.filter(isCallBlock);
  if (blocks.length === 0) return [message];
  const rest = parts.filter((part) => !isCallBlock(part));
  if (message.role === 'assistant') {
    const calls = listOf(message.tool_calls);
    const known = new Set(calls.map((call) => isObject(call) && call.id));
    const added = blocks.filter(({ type, id }) => type === 'tool_use' && !known.has(id)).map(callOf);
    const tool_calls = [...calls, ...added];
    const content = rest.length > 0 ? rest : null;
    return [{ ...message, content, ...(tool_calls.length > 0 && { tool_calls }) }];
  }
  const outputs = blocks.filter(({ type }) => type === 'tool_result').map(outputOf);
  return rest.length > 0 ? [...outputs, { ...message, content: rest }] : outputs;
}

function callOf({ id, name, input }: Json): Json {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return { id, type: 'function', function: { name, arguments: text } };
}

function outputOf({ tool_use_id: id, content, cache_control: mark }: Json): Json {
  const output = { role: 'tool', tool_call_id: id, content: content ?? '' };
  return mark === undefined ? output : { ...output, cache_control: mark };
}

function withOwnIds(messages: readonly unknown[]): readonly unknown[] {
  const ids = new DistinctIds();
  return mapChanged(messages, (message) => {
    if (!isObject(message)) return message;
    if (message.role === 'tool') {
      const { tool_call_id: given } = message;
      const id = typeof given === 'string' ? ids.ofOutput(given) : given;
      return id === given ? message : { ...message, tool_call_id: id };
    }
    if (message.role !== 'assistant') ids.endTurn();
    if (!Array.isArray(message.tool_calls)) return message;
    const calls = mapChanged(message.tool_calls as unknown[], (call) => {
      if (!isObject(call) || typeof call.id !== 'string') return call;
      const id = ids.ofCall(call.id);
      return id === call.id ? call : { ...call, id };
    });
    return calls === message.tool_calls ? message : { ...message, tool_calls: calls };
  });
}
