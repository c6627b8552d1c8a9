import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Client } from '../../shared/client.ts';
import type { ResponseResource } from '../../shared/contract/response-resource.ts';
import type { TraceView } from '../../shared/contract/traces.ts';
import { foldersOf, logFiles } from '../../shared/folders.ts';
import { ReceivedError } from '../../shared/received-error.ts';
import { SseReader } from '../../shared/sse.ts';
import type { Context } from '../context.ts';
import { getResponse, listInputItems } from '../endpoints.ts';
import { localName } from '../hosts/host-file.ts';
import { chatPassages, type Passage, passagesOf } from './conversation-text.ts';

type Json = Record<string, unknown>;

/** A stored response with the input of its call. */
export interface StoredContent {
  response: ResponseResource;
  input: Json[];
}

/** The question and the answer of a call. */
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

/** The question and the answer of a finished call, from its stored response, else from the log. */
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

/** The bodies of a call in the log, as JSON or server-sent events; long ones end in an ellipsis. */
interface LoggedBodies {
  asked: string | undefined;
  answered: string | undefined;
}

/** Looks for the bodies of a call in the daemon's log, which has them if `log.bodies` is on. */
async function findInLog(folder: string, requestId: string): Promise<LoggedBodies | undefined> {
  const found: LoggedBodies = { asked: undefined, answered: undefined };
  for (const path of logFiles(folder)) {
    for await (const line of linesOf(path)) {
      if (!line.includes(requestId) || !/"(asked|answered)":/.test(line)) continue;
      const entry = parsed(line);
      if (entry?.request_id !== requestId) continue;
      if (typeof entry.asked === 'string') found.asked = entry.asked;
      if (typeof entry.answered === 'string') found.answered = entry.answered;
    }
    if (found.asked !== undefined && found.answered !== undefined) break;
  }
  return found.asked === undefined && found.answered === undefined ? undefined : found;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Prompt and answer as text, as far as the log has them. */
function loggedPassages({ asked, answered }: LoggedBodies): Passage[] {
  const request = asked === undefined ? [] : requestPassages(asked);
  return [...request, ...(answered === undefined ? [] : answerPassages(answered))];
}

function requestPassages(asked: string): Passage[] {
  const body = parsed(asked);
  if (!body) return [{ role: 'request', text: asked }];
  const { instructions, input, messages, system: first } = body;
  if (Array.isArray(messages)) {
    const before = first === undefined ? [] : [{ role: 'system', content: first }];
    return chatPassages([...before, ...(messages as Json[])]);
  }
  const system = typeof instructions === 'string' ? [{ role: 'system', text: instructions }] : [];
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return [...system, ...passagesOf(Array.isArray(items) ? (items as Json[]) : [])];
}

function answerPassages(answered: string): Passage[] {
  const whole = parsed(answered);
  if (whole) return wholePassages(whole);
  const events: Json[] = new SseReader()
    .push(Buffer.from(`${answered}\n\n`))
    .flatMap(({ data }) => listed(parsed(data)));
  const end = events.findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(String(type)));
  if (end) return wholePassages(end.response as Json);
  const said = events.map(deltaText).join('');
  const failure = events.find(({ error }) => error !== undefined);
  return [
    ...(said === '' ? [] : [{ role: 'assistant', text: said }]),
    ...passagesOfCalls(events),
    ...(failure ? wholePassages(failure) : []),
  ];
}

/** A whole answer of any format, or an error. */
function wholePassages({ output, choices, content, error }: Json): Passage[] {
  const passages = Array.isArray(output) ? passagesOf(output as Json[]) : [];
  if (Array.isArray(choices)) {
    const messages = (choices as Json[]).map(({ message }) => message as Json);
    passages.push(...chatPassages(messages));
  }
  if (Array.isArray(content)) passages.push(...chatPassages([{ role: 'assistant', content }]));
  if (error) passages.push({ role: 'error', text: String((error as Json).message ?? '') });
  return passages;
}

function deltaText(event: Json): string {
  if (event.type === 'response.output_text.delta') return String(event.delta ?? '');
  if (event.type === 'content_block_delta') return String((event.delta as Json | undefined)?.text ?? '');
  const { content } = deltaOf(event);
  return typeof content === 'string' ? content : '';
}

/** The function calls of a chat or Messages stream, whose names and arguments arrive in pieces. */
function passagesOfCalls(events: readonly Json[]): Passage[] {
  const calls = new Map<number, { name: string; arguments: string }>();
  for (const event of events) {
    for (const piece of callPieces(event)) {
      const { name = '', arguments: given = '' } = (piece.function ?? {}) as Json;
      const index = Number(piece.index ?? 0);
      const before = calls.get(index) ?? { name: '', arguments: '' };
      calls.set(index, { name: before.name + String(name), arguments: before.arguments + String(given) });
    }
  }
  return passagesOf([...calls.values()].map((call) => ({ type: 'function_call', ...call })));
}

/** The pieces of calls in an event, in the form of the chat format. */
function callPieces(event: Json): Json[] {
  const { type, index, content_block: block, delta } = event;
  const { type: kind, name } = (block ?? {}) as Json;
  if (type === 'content_block_start') return kind === 'tool_use' ? [{ index, function: { name } }] : [];
  if (type !== 'content_block_delta') return (deltaOf(event).tool_calls ?? []) as Json[];
  const { partial_json: json } = (delta ?? {}) as Json;
  return json === undefined ? [] : [{ index, function: { arguments: json } }];
}

function listed(event: Json | undefined): Json[] {
  return event ? [event] : [];
}

function deltaOf({ choices }: Json): Json {
  const [first] = (choices ?? []) as Json[];
  return (first?.delta ?? {}) as Json;
}

function parsed(json: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
