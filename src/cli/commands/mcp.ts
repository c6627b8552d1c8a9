import { Command } from '@commander-js/extra-typings';
import type { ClientAnswer, ClientRequest } from '../../shared/client.ts';
import { exitCodes } from '../../shared/errors.ts';
import { receivedError } from '../../shared/faults/received-error.ts';
import { SseReader } from '../../shared/http/sse.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';
import type { Context } from '../context.ts';
import { explain } from '../explain.ts';
import { CliError } from '../failures/cli-error.ts';
import type { Host } from '../hosts/hosts.ts';
import { routeTo, Unreachable } from '../hosts/send.ts';
import { example } from '../options.ts';
import { withNpx } from '../output/output.ts';

export const mcpCommand = (context: Context) =>
  new Command('mcp')
    .addHelpText('after', example('claude mcp add gateway -- gateway mcp'))
    .action(() => bridge(context));

/** How long to wait for running requests after the client has closed its input. */
const graceMs = 1_000;

const hasLeft = new CliError('The input ended before the answer came: the request was canceled.', {
  exit: exitCodes.interrupted,
});

/** In JSON-RPC's range for implementation-defined errors: the daemon could not be reached. */
const notAsked = -32000;

/**
 * Forwards the messages of an MCP client, one per line, to the daemon and writes its answers. Requests run concurrently. A
 * restarted daemon is found again.
 */
async function bridge(context: Context): Promise<void> {
  const session = new Session(context);
  for await (const line of context.io.stdin.lines()) {
    if (line.trim() !== '') session.take(line);
  }
  await session.end();
}

class Session {
  readonly #context: Context;
  readonly #running = new Map<AbortController, Promise<void>>();
  readonly #requests = new Map<string | number, AbortController>();
  /** Read once per host: reading the keychain starts a process. */
  #login: { host: Host; secret: Promise<string | undefined> } | undefined;
  /** The protocol version agreed by `initialize`, sent with every later request. */
  #agreed: string | undefined;
  /** Whether a client speaks, and not a person who pipes messages in. */
  #isClient = false;

  constructor(context: Context) {
    this.#context = context;
  }

  take(line: string): void {
    const message = messageOf(line);
    const { id, method, params } = message;
    if (typeof objectOf(params._meta)[versionMember] === 'string') this.#isClient = true;
    if (method === 'notifications/cancelled') {
      // Over HTTP, closing the connection cancels a request.
      this.#requests.get(params.requestId as string | number)?.abort();
      return;
    }
    const controller = new AbortController();
    if (id !== undefined && method !== undefined) this.#requests.set(id, controller);
    const passed = this.#pass(line, message, controller.signal).finally(() => {
      this.#running.delete(controller);
      if (id !== undefined && this.#requests.get(id) === controller) this.#requests.delete(id);
    });
    this.#running.set(controller, passed);
  }

  /** A client that ends its input leaves; messages that are piped in without a handshake are answered. */
  async end(): Promise<void> {
    const over = new AbortController();
    const all = Promise.all(this.#running.values());
    await (this.#isClient ? Promise.race([all, this.#context.sleep(graceMs, over.signal)]) : all);
    over.abort();
    for (const controller of this.#running.keys()) controller.abort(hasLeft);
    await all;
  }

  async #pass(line: string, message: Message, signal: AbortSignal): Promise<void> {
    const { id, method } = message;
    let isAnswered = false;
    try {
      const answer = await this.#send(line, message, signal);
      for await (const text of messagesIn(answer)) {
        const received = objectOf(JSON.parse(text));
        // With another id if that of the request is none.
        if (received.method === undefined) isAnswered = true;
        if (method === 'initialize') this.#agree(received);
        this.#write(received);
      }
      if (isAnswered || id === undefined || method === undefined) return;
      throw new Error('The daemon stopped before answering.');
    } catch (error) {
      if (isAnswered || (signal.aborted && signal.reason !== hasLeft)) return;
      this.#reportFailure(signal.aborted ? hasLeft : error, message);
    }
  }

  #agree({ result }: Record<string, unknown>): void {
    const { protocolVersion } = objectOf(result);
    if (typeof protocolVersion !== 'string') return;
    this.#agreed = protocolVersion;
    this.#isClient = true;
  }

  async #send(line: string, message: Message, signal: AbortSignal): Promise<ClientAnswer> {
    const context = this.#context;
    const headers = headersOf(message, this.#agreed);
    const post = async (host: Host) => {
      const { baseUrl, send } = routeTo(host, context.env);
      const { workspace } = host;
      const secret = await this.#secretFor(host);
      return await send(requestFor({ baseUrl, workspace, secret }, { headers, body: line, signal }));
    };
    try {
      const answer = await post(context.host());
      // Read the login again next time: the user may have logged in again.
      if (answer.status === 401) this.#login = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof Unreachable && error.kind === 'refused')) throw error;
      context.forgetHost();
      return await post(context.host());
    }
  }

  #secretFor(host: Host): Promise<string | undefined> {
    if (this.#login?.host !== host) {
      const { token } = host;
      this.#login = { host, secret: Promise.resolve(typeof token === 'function' ? token() : token) };
      this.#login.secret.catch(() => {
        this.#login = undefined;
      });
    }
    return this.#login.secret;
  }

  #write(message: object): void {
    this.#context.io.stdout.write(`${JSON.stringify(message)}\n`);
  }

  #reportFailure(error: unknown, { id, method }: Message): void {
    const { sentence, details } = explain(error, { isLocal: this.#isLocal() });
    const next = details.find(([name]) => name === 'next')?.[1];
    const advice = next === undefined ? '' : ` ${withNpx(next, this.#context.env)}`;
    const message = `${sentence}${advice}`;
    this.#context.out.warn(message);
    if (id !== undefined && method !== undefined) {
      this.#write({ jsonrpc: '2.0', id, error: { code: notAsked, message } });
    }
  }

  #isLocal(): boolean {
    try {
      return this.#context.host().isLocal;
    } catch {
      return true;
    }
  }
}

function requestFor(
  { baseUrl, workspace, secret }: Pick<Host, 'workspace'> & { baseUrl: string; secret: string | undefined },
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
): ClientRequest {
  return {
    method: 'POST',
    url: `${trimEnd(baseUrl, '/')}/mcp`,
    headers: {
      ...headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(secret && { authorization: `Bearer ${secret}` }),
      ...(workspace && { 'x-workspace-id': workspace }),
    },
    body,
    signal,
  };
}

/** Yields the messages in an HTTP response. Throws the daemon's error if the response is not a message. */
async function* messagesIn({ status, headers, body }: ClientAnswer): AsyncGenerator<string, void> {
  if (headers['content-type']?.startsWith('text/event-stream')) {
    const reader = new SseReader();
    for await (const bytes of body) for (const { data } of reader.push(bytes)) if (data !== '') yield data;
    return;
  }
  const chunks: Uint8Array[] = [];
  for await (const bytes of body) chunks.push(bytes);
  const text = Buffer.concat(chunks).toString();
  if (isMessage(text)) yield text;
  else if (status !== 202) throw receivedError(status, headers, text);
}

function isMessage(text: string): boolean {
  try {
    return objectOf(JSON.parse(text)).jsonrpc === '2.0';
  } catch {
    return false;
  }
}

/** The parts of a JSON-RPC message that matter for forwarding it. */
export interface Message {
  id: string | number | undefined;
  method: string | undefined;
  params: Record<string, unknown>;
}

/** Parses a message. An invalid one has no parts: the daemon reports what is wrong with it. */
export function messageOf(line: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {}
  const { id, method, params } = objectOf(value);
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
    method: typeof method === 'string' ? method : undefined,
    params: objectOf(params),
  };
}

const versionMember = 'io.modelcontextprotocol/protocolVersion';

/** The parameter that names the target of a request. */
const nameMembers: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * The headers that MCP over HTTP requires besides the message. Source: the Model Context Protocol, revisions 2025-06-18
 * (version) and 2026-07-28 (method and name), streamable HTTP.
 */
export function headersOf({ method, params }: Message, agreed: string | undefined): Record<string, string> {
  const claimed = objectOf(params._meta)[versionMember];
  const version = typeof claimed === 'string' ? claimed : agreed;
  const headers: Record<string, string> = {};
  if (version !== undefined) headers['mcp-protocol-version'] = headerText(version);
  if (typeof claimed !== 'string' || method === undefined) return headers;
  headers['mcp-method'] = headerText(method);
  const name = params[nameMembers[method] ?? ''];
  if (typeof name === 'string') headers['mcp-name'] = headerText(name);
  return headers;
}

/** Encodes anything but visible ASCII as base64. */
function headerText(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?base64?')) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

export function objectOf(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : {};
}
