import type { Client } from '../../shared/client.ts';
import type { TraceContent } from '../../shared/contract/content.ts';
import type { ResponseResource } from '../../shared/contract/response-resource.ts';
import type { TraceView } from '../../shared/contract/traces.ts';
import { getResponse, getTraceContent, listInputItems } from '../../shared/endpoints.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { type CallText, readOn, type TextPart, textWith } from '../../view/call-text.ts';
import { answerConversation, requestConversation } from '../../view/conversation.ts';
import { type Passage, textPassages } from './conversation-text.ts';

type Json = Record<string, unknown>;

/** A stored response with the input of its call. */
export interface StoredContent {
  response: ResponseResource;
  input: Json[];
}

/** The request and the answer of a call as they were captured: JSON, or text where it is none. */
export interface CapturedContent {
  request: unknown;
  answer: unknown;
}

/** The question and the answer of a call. */
export type CallContent =
  | ({ source: 'capture' } & CapturedContent)
  | ({ source: 'response' } & StoredContent)
  /** A sentence that says why it is not kept. */
  | { source: null; reason: string };

/** Reads a stored response, with the permissions of the caller. */
export async function storedContent(client: Client, id: string): Promise<StoredContent> {
  const response = await client.call(getResponse, { params: { id }, query: {} });
  const input: Json[] = [];
  let after: string | undefined;
  do {
    const query = { order: 'asc', limit: 100, after } as const;
    const page = await client.call(listInputItems, { params: { id }, query });
    input.push(...page.data);
    after = page.has_more ? (page.last_id ?? undefined) : undefined;
  } while (after !== undefined);
  return { response, input };
}

/** The question and the answer of a call: as captured, else from its stored response. */
export async function contentOfCall(
  client: Client,
  { request_id: requestId, response_id: responseId }: Pick<TraceView, 'request_id' | 'response_id'>,
): Promise<CallContent> {
  const captured = await capturedContent(client, requestId).catch(unlessUnreadable);
  if (!(captured instanceof ReceivedError)) return { source: 'capture', ...captured };
  if (responseId !== null) {
    const response = await storedContent(client, responseId).catch(unlessUnreadable);
    if (!(response instanceof ReceivedError)) return { source: 'response', ...response };
  }
  if (captured.code !== 'not_found') throw captured;
  return { source: null, reason: captured.message };
}

/** The request and the answer of a call as they were captured. Fails with `not_found` where they are not kept. */
export async function capturedContent(client: Client, requestId: string): Promise<CapturedContent> {
  const { text: request } = await capturedText(client, requestId, 'request');
  const { text: answer } = await capturedText(client, requestId, 'answer');
  return { request: request && jsonOrText(request), answer: answer && jsonOrText(answer) };
}

/** JSON, or the text where it is none. */
const jsonOrText = ({ text }: CallText): unknown => parsed(text) ?? text;

/** A request as it was captured. */
export interface CapturedRequest {
  endpoint: string;
  headers: { name: string; value: string }[];
  /** Null if it is not kept, as it was too long. */
  text: string | null;
  /** Whether parts were deleted. */
  isPartial: boolean;
}

/** The request of a call as it was captured. Fails with `not_found` where it is not kept. */
export async function capturedRequest(client: Client, requestId: string): Promise<CapturedRequest> {
  const { first, text } = await capturedText(client, requestId, 'request');
  return {
    endpoint: first.endpoint,
    headers: first.request?.headers ?? [],
    text: text?.text ?? null,
    isPartial: text?.isPartial ?? false,
  };
}

/** A request or an answer whole, with its first page. */
async function capturedText(
  client: Client,
  requestId: string,
  part: TextPart,
): Promise<{ first: TraceContent; text: CallText | undefined }> {
  const pageAt = (at: number) =>
    client.call(getTraceContent, {
      params: { request_id: requestId },
      query: { part, ...(at > 0 && { at }) },
    });
  const first = await pageAt(0);
  const text = textWith(first, part);
  return { first, text: text && (await readOn(text, part, pageAt)) };
}

/** Not kept, or not for this caller. */
function unlessUnreadable(error: unknown): ReceivedError {
  const isExpected =
    error instanceof ReceivedError && ['not_found', 'out_of_scope', 'permission'].includes(error.code ?? '');
  if (isExpected) return error;
  throw error;
}

/** Content as text, in the order of the conversation. */
export function contentPassages(content: CallContent): Passage[] {
  if (content.source === null) return [{ role: 'content', text: content.reason }];
  return content.source === 'capture' ? capturedPassages(content) : storedPassages(content);
}

/** A stored response as text, from its instructions to its answer. */
export function storedPassages({ response, input }: StoredContent): Passage[] {
  const { instructions, previous_response_id: previous, output, error } = response as Json;
  const earlier = typeof previous === 'string' ? [{ role: 'earlier', text: `[continues ${previous}]` }] : [];
  return [
    ...textPassages(requestConversation({ instructions })),
    ...earlier,
    ...textPassages(requestConversation({ input })),
    ...answerPassages({ output, error }),
  ];
}

/** Request and answer as text. */
function capturedPassages({ request, answer }: CapturedContent): Passage[] {
  return [...textPassages(requestConversation(request)), ...answerPassages(answer)];
}

/** An answer of any format, or an error. */
export function answerPassages(answer: unknown): Passage[] {
  return textPassages(answerConversation(answer));
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function parsed(json: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
