import type { ReplayedEndpoint } from '../../../shared/replay/prepare-replay.ts';
import type { Json } from './draft.ts';

/** A call of a tool in an answer. */
export interface ToolCall {
  id: string;
  name: string;
  /** As the model wrote them. */
  arguments: string;
}

/** The calls of tools in an answer of any format. */
export function toolCallsIn(answer: Json): ToolCall[] {
  const items = [...objectsIn(answer.output), ...objectsIn(answer.content)];
  const chat = objectsIn(answer.choices).flatMap((choice) => objectsIn((choice.message as Json)?.tool_calls));
  return [
    ...items.flatMap((item): ToolCall[] => {
      if (item.type === 'function_call')
        return [{ id: String(item.call_id), name: String(item.name), arguments: String(item.arguments) }];
      if (item.type === 'tool_use')
        return [{ id: String(item.id), name: String(item.name), arguments: JSON.stringify(item.input) }];
      return [];
    }),
    ...chat.map(({ id, function: called }) => {
      const { name, arguments: given } = (called ?? {}) as Json;
      return { id: String(id), name: String(name), arguments: String(given) };
    }),
  ];
}

/** The request that continues an answer with the results of its tools, by the ids of their calls. */
export function withResults(
  endpoint: ReplayedEndpoint,
  body: Json,
  answer: Json,
  results: Readonly<Record<string, string>>,
): Json {
  const given = Object.entries(results);
  if (endpoint === '/v1/responses') {
    const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : list(body.input);
    const outputs = given.map(([id, output]) => ({ type: 'function_call_output', call_id: id, output }));
    return { ...body, input: [...input, ...list(answer.output), ...outputs] };
  }
  if (endpoint === '/v1/messages') {
    const content = given.map(([id, text]) => ({ type: 'tool_result', tool_use_id: id, content: text }));
    const turns = [
      { role: 'assistant', content: answer.content },
      { role: 'user', content },
    ];
    return { ...body, messages: [...list(body.messages), ...turns] };
  }
  const said = objectsIn(answer.choices)[0]?.message;
  const outputs = given.map(([id, content]) => ({ role: 'tool', tool_call_id: id, content }));
  return { ...body, messages: [...list(body.messages), said, ...outputs] };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectsIn(value: unknown): Json[] {
  return list(value).filter((item): item is Json => typeof item === 'object' && item !== null);
}
