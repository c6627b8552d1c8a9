import type { Client } from '../../shared/client.ts';
import type { ResponseResource } from '../../shared/contract/response-resource.ts';
import type { TraceView } from '../../shared/contract/traces.ts';
import { foldersOf } from '../../shared/folders.ts';
import { ReceivedError } from '../../shared/received-error.ts';
import type { Context } from '../context.ts';
import { localName } from '../hosts/host-file.ts';
import { getResponse, listInputItems } from '../manifest/endpoints.ts';
import { type Passage, passagesOf } from './conversation-text.ts';
import { findInLog, type LoggedBodies, loggedPassages } from './logged-content.ts';

type Json = Record<string, unknown>;

/** A stored response with the input of its call. */
export interface StoredContent {
  response: ResponseResource;
  input: Json[];
}

/** What was asked and answered in a call. */
export type CallContent =
  | ({ source: 'response' } & StoredContent)
  | ({ source: 'log' } & LoggedBodies)
  /** A sentence that says why it is not stored, and how to store it. */
  | { source: null; reason: string };

/** Finds the bodies of a call in the log; undefined if this machine does not have it. */
export type LogSearch = ((requestId: string) => Promise<LoggedBodies | undefined>) | undefined;

/** The log of the local daemon; that of another host can only be read there. */
export function logSearchOf(context: Context): LogSearch {
  const { isLocal, name } = context.host();
  if (!isLocal || name !== localName) return undefined;
  return (requestId) => findInLog(foldersOf(context).data, requestId);
}

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

/** What was asked and answered in a finished call, from its stored response, else from the log. */
export async function contentOfCall(
  client: Client,
  trace: Pick<TraceView, 'request_id' | 'response_id' | 'status' | 'endpoint'>,
  searchLog: LogSearch,
): Promise<CallContent> {
  const { request_id: requestId, response_id: responseId } = trace;
  if (responseId !== null) {
    try {
      return { source: 'response', ...(await storedContent(client, responseId)) };
    } catch (error) {
      if (!(error instanceof ReceivedError) || error.code !== 'not_found') throw error;
    }
  }
  const logged = await searchLog?.(requestId);
  if (logged) return { source: 'log', ...logged };
  return {
    source: null,
    reason: `Prompt and answer are not stored. ${whyNotStored(trace)} ${howToLog(searchLog)}`,
  };
}

function whyNotStored({
  response_id: id,
  status,
  endpoint,
}: Pick<TraceView, 'response_id' | 'status' | 'endpoint'>) {
  if (status === 'rejected') return 'The request was rejected.';
  if (endpoint === '/v1/embeddings') return 'Embeddings are never stored.';
  if (endpoint.includes('chat')) return 'Chat completions are never stored.';
  if (endpoint.endsWith('/messages')) return 'Messages are never stored.';
  if (id === null) return 'There was no response to store.';
  if (status === 'canceled')
    return 'The call was canceled before there was an answer to store, or the answer has been deleted or has expired.';
  return 'It was sent with `store: false`, which can also be the default of its key or host, or it has been deleted or has expired.';
}

function howToLog(searchLog: LogSearch): string {
  return searchLog
    ? 'To keep bodies in the log from now on: gateway config set log.bodies true'
    : 'If log.bodies is on, the log on the machine of the host has it.';
}

/** Content as text, in the order of the conversation. */
export function contentPassages(content: CallContent): Passage[] {
  if (content.source === null) return [{ role: 'content', text: content.reason }];
  return content.source === 'log' ? loggedPassages(content) : storedPassages(content);
}

/** A stored response as text, from its instructions to its answer. */
export function storedPassages({ response, input }: StoredContent): Passage[] {
  const { instructions, previous_response_id: previous, output, error } = response as Json;
  const before: Passage[] = [];
  if (typeof instructions === 'string') before.push({ role: 'system', text: instructions });
  if (typeof previous === 'string') before.push({ role: 'earlier', text: `[continues ${previous}]` });
  const failure = error ? [{ role: 'error', text: String((error as Json).message ?? '') }] : [];
  return [...before, ...passagesOf(input), ...passagesOf(output as Json[]), ...failure];
}
