import { isObject, type JsonObject as Json } from '../../../shared/json/json-object.ts';
import type { ReplayedEndpoint } from '../../../shared/replay/prepare-replay.ts';

/** A message of a request, as it is edited. */
export interface Turn {
  role: string;
  /** Undefined for what is no plain text, such as a call of a tool, or an image. */
  text: string | undefined;
}

export type TurnRole = 'user' | 'assistant';

const listOf = (endpoint: ReplayedEndpoint) => (endpoint === '/v1/responses' ? 'input' : 'messages');

/** The messages of a request; undefined if it has no list of them. */
export function turnsIn(endpoint: ReplayedEndpoint, body: Json): Turn[] | undefined {
  const items = body[listOf(endpoint)];
  if (endpoint === '/v1/embeddings' || !Array.isArray(items)) return undefined;
  return items.map((item: unknown) => {
    if (!isObject(item)) return { role: 'user', text: typeof item === 'string' ? item : undefined };
    const isMessage =
      item.tool_calls === undefined && [undefined, 'message'].includes(item.type as undefined);
    return {
      role: String(item.role ?? item.type ?? 'message'),
      text: isMessage ? plainText(item.content) : undefined,
    };
  });
}

/** The request with another text in one of its messages. */
export function withText(endpoint: ReplayedEndpoint, body: Json, at: number, text: string): Json {
  const items = itemsOf(endpoint, body);
  const item = items[at];
  const content = isObject(item) && Array.isArray(item.content) ? [{ ...item.content[0], text }] : text;
  return { ...body, [listOf(endpoint)]: items.with(at, isObject(item) ? { ...item, content } : text) };
}

/** The request without one of its messages. */
export function withoutTurn(endpoint: ReplayedEndpoint, body: Json, at: number): Json {
  return { ...body, [listOf(endpoint)]: itemsOf(endpoint, body).toSpliced(at, 1) };
}

/** The request with further messages at its end; one text becomes a list of messages. */
export function withTurns(
  endpoint: ReplayedEndpoint,
  body: Json,
  turns: readonly { role: TurnRole; text: string }[],
): Json {
  const added = turns.map(({ role, text }) => ({ role, content: text }));
  return { ...body, [listOf(endpoint)]: [...itemsOf(endpoint, body), ...added] };
}

function itemsOf(endpoint: ReplayedEndpoint, body: Json): unknown[] {
  const given = body[listOf(endpoint)];
  if (Array.isArray(given)) return given;
  return typeof given === 'string' ? [{ role: 'user', content: given }] : [];
}

/** A text, or the only block of a content if that is one. */
function plainText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  const [only, ...others] = Array.isArray(content) ? content : [];
  if (others.length > 0 || !isObject(only) || !/(^|_)text$/.test(String(only.type))) return undefined;
  return typeof only.text === 'string' ? only.text : undefined;
}
