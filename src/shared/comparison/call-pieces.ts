import { isObject, type JsonObject, listOf } from '../json/json-object.ts';
import { isToolList, kindOfType, type RequestItem, requestItems } from './request-items.ts';

/** A piece of a request or an answer in any format, as it was sent. */
export interface CallPiece {
  /** Where it is: `messages[3].content[1]`. */
  path: string;
  kind: 'tool' | 'instructions' | 'message' | 'answer';
  /** Who says it; of a tool, its name. */
  role: string;
  value: unknown;
}

/** The pieces of a request in any format, in the order in which providers read them, and cache them. */
export function requestPieces(body: unknown): CallPiece[] {
  if (!isObject(body))
    return body === undefined ? [] : [{ path: 'body', kind: 'message', role: 'request', value: body }];
  return requestItems(body).flatMap(piecesOfItem);
}

/** A message by its blocks; any other item is one piece. */
export function piecesOfItem({ path, list, name, value }: RequestItem): CallPiece[] {
  if (isToolList(list)) return [{ path, kind: 'tool', role: name ?? 'tool', value }];
  if (list === 'instructions' || list === 'system')
    return [{ path, kind: 'instructions', role: 'system', value }];
  return messagePieces(value, path, 'message');
}

/** The pieces of a whole answer in any format, or of an error. */
export function answerPieces(body: unknown): CallPiece[] {
  if (!isObject(body))
    return body === undefined ? [] : [{ path: 'body', kind: 'answer', role: 'answer', value: body }];
  const { output, choices, content, error } = body;
  return [
    ...listOf(output).flatMap((item, at) => messagePieces(item, `output[${at}]`, 'answer')),
    ...listOf(choices).flatMap((choice, at) =>
      messagePieces(isObject(choice) ? choice.message : choice, `choices[${at}].message`, 'answer'),
    ),
    ...contentPieces(content, { path: 'content', kind: 'answer', role: 'assistant' }),
    ...(isObject(error)
      ? [{ path: 'error', kind: 'answer' as const, role: 'error', value: error.message ?? error }]
      : []),
  ];
}

type Place = Omit<CallPiece, 'value'>;

function contentPieces(content: unknown, { path, kind, role }: Place): CallPiece[] {
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) return [{ path, kind, role, value: content }];
  return content.map((value, at) => ({ path: `${path}[${at}]`, kind, role, value }));
}

/** A message of any format by its blocks; an item of another kind as a whole. */
function messagePieces(message: unknown, path: string, kind: CallPiece['kind']): CallPiece[] {
  if (!isObject(message)) return [{ path, kind, role: 'user', value: message }];
  const { type = 'message', role, content, tool_calls: calls, refusal, ...others } = message;
  if (type !== 'message') return [{ path, kind, role: roleOfItem(type), value: message }];
  const by = { kind, role: String(role ?? 'assistant') };
  const blocks = contentPieces(content, { path: `${path}.content`, ...by });
  const more = Object.entries({ refusal, ...named(others) })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => ({ path: `${path}.${name}`, ...by, value }));
  return [
    ...blocks,
    ...listOf(calls).map((value, at) => ({ path: `${path}.tool_calls[${at}]`, ...by, value })),
    ...more,
  ];
}

/** What a message says besides its content; not what names or marks it. */
function named({ reasoning, reasoning_content, images, audio, function_call }: JsonObject): JsonObject {
  return { reasoning, reasoning_content, images, audio, function_call };
}

function roleOfItem(type: unknown): string {
  const kind = kindOfType(String(type));
  if (kind === 'tool_result') return 'tool';
  return kind === 'reasoning' ? kind : 'assistant';
}
