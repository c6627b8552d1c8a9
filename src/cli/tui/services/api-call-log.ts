import { AsyncLocalStorage } from 'node:async_hooks';
import type { Address, CallOptions, Client } from '../../../shared/client.ts';
import { pathOf } from '../../../shared/client.ts';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { putProviderKey } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';

/** One API call that this program made. */
export interface LoggedCall {
  number: number;
  /** Milliseconds since 1970. */
  at: number;
  method: string;
  /** The path of the contract: `/v1/workspaces/{workspace}/keys`. */
  template: string;
  /** With parameters and query. */
  path: string;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  /** `running`, `ok`, or an error code. */
  outcome: string;
  /** Until the response, or the start of a stream. */
  tookMs: number | null;
  requestId: string | null;
}

const callsMax = 200;

/** The last API calls of this program. */
export class ApiCallLog {
  readonly #calls: LoggedCall[] = [];
  readonly #unlisted = new AsyncLocalStorage<true>();
  #count = 0;

  /** Runs what the program does by itself, such as polling: its calls are not listed. */
  unlisted<T>(work: () => T): T {
    return this.#unlisted.run(true, work);
  }

  get isListing(): boolean {
    return this.#unlisted.getStore() === undefined;
  }

  /** Newest first. */
  rows(): LoggedCall[] {
    return this.#calls.toReversed();
  }

  add(call: Omit<LoggedCall, 'number' | 'outcome' | 'tookMs' | 'requestId'>): LoggedCall {
    this.#count += 1;
    const logged = { ...call, number: this.#count, outcome: 'running', tookMs: null, requestId: null };
    this.#calls.push(logged);
    if (this.#calls.length > callsMax) this.#calls.shift();
    return logged;
  }
}

interface LoggingOptions {
  /** Called each time, because a restarted daemon may have a new address. */
  client: () => Client;
  log: ApiCallLog;
  now(): number;
  onChange(): void;
}

/** Wraps a client so that each call is logged. */
export function loggingClient({ client, log, now, onChange }: LoggingOptions): Client {
  const start = (endpoint: Endpoint | Address, input: AnyInput) => {
    const { params = {}, query = {}, body } = input;
    if (!log.isListing) return () => {};
    const { method, path: template } = endpoint;
    const path = pathOf(template, params) + queryText(query);
    const call = log.add({
      at: now(),
      method,
      template,
      path,
      params,
      query,
      body: shownBody(template, body),
    });
    const end = (outcome: string, requestId?: string | undefined) => {
      call.outcome = outcome;
      call.tookMs ??= now() - call.at;
      call.requestId ??= requestId ?? null;
      onChange();
    };
    return end;
  };
  return {
    async call(endpoint, input, options = {}) {
      const end = start(endpoint, input as AnyInput);
      let requestId: string | undefined;
      const onOpen = (headers: Record<string, string>) => {
        requestId = headers['x-request-id'];
        options.onOpen?.(headers);
      };
      try {
        const result = await client().call(endpoint, input, { ...options, onOpen });
        end('ok', requestId);
        return result;
      } catch (error) {
        end(outcomeOf(error), error instanceof ReceivedError ? error.requestId : requestId);
        throw error;
      }
    },
    text: (endpoint, input, options) =>
      logged(start(endpoint, input as AnyInput), options, (logging) =>
        client().text(endpoint, input, logging),
      ),
    stream: (endpoint, input, options) =>
      logged(start(endpoint, input as AnyInput), options, (logging) =>
        client().stream(endpoint, input, logging),
      ),
  };
}

type End = (outcome: string, requestId?: string | undefined) => void;

/** Reports when an answer that is read piece by piece began, and how it ended. */
async function* logged<Piece>(
  end: End,
  options: CallOptions = {},
  open: (options: CallOptions) => AsyncGenerator<Piece, void>,
): AsyncGenerator<Piece, void> {
  const onOpen = (headers: Record<string, string>) => {
    end('open', headers['x-request-id']);
    options.onOpen?.(headers);
  };
  try {
    yield* open({ ...options, onOpen });
    end('ok');
  } catch (error) {
    end(options.signal?.aborted ? 'ended' : outcomeOf(error));
    throw error;
  }
}

interface AnyInput {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** The log is shown and copied, so that it has no credentials. */
function shownBody(template: string, body: unknown): unknown {
  return template === putProviderKey.path ? { key: '…' } : body;
}

function outcomeOf(error: unknown): string {
  return error instanceof ReceivedError ? error.code : 'unreachable';
}

function queryText(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}
