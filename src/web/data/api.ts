import { Semaphore } from '../../shared/async/semaphore.ts';
import type { Address, CallOptions, ClientRequest } from '../../shared/client.ts';
import { type Client, createClient, NotTheService } from '../../shared/client.ts';
import type { Endpoint, Input, Result } from '../../shared/contract/endpoint.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import type { SseEvent } from '../../shared/http/sse.ts';
import { typed } from './command.ts';
import { login, loginEnded, workspaceEnded } from './login.ts';

/** Browsers open six connections to a host: one is for the event stream, one stays free. */
const callsMax = 4;
const running = new Semaphore(() => callsMax);
const baseUrl = new URL('.', location.href.replace(/#.*/s, '')).href;
const pageVersion = document.querySelector<HTMLMetaElement>('meta[name=version]')?.content;
const reloadedKey = 'gateway.reloaded';

/** The gateway cannot be reached. */
export class Offline extends Error {
  constructor() {
    super('The gateway does not answer.');
    this.name = 'Offline';
  }
}

/** Calls an endpoint with the key of this tab. */
export async function call<E extends Endpoint>(
  endpoint: Address<E>,
  input: Input<E>,
  options: CallOptions = {},
): Promise<Result<E>> {
  const { signal } = options;
  const task = () => withLogin((client) => client.call(endpoint, input, options));
  return await running.run(task, signal === undefined ? {} : { signal });
}

/** Calls an endpoint with a key that is not stored, or none. */
export function callAs<E extends Endpoint>(
  secret: string | undefined,
  endpoint: Address<E>,
  input: Input<E>,
): Promise<Result<E>> {
  return clientFor(secret, undefined).call(endpoint, input);
}

/** The events of an endpoint, with the key of this tab. */
export async function* stream<E extends Endpoint>(
  endpoint: Address<E>,
  input: Input<E>,
  options: CallOptions = {},
): AsyncGenerator<SseEvent, void> {
  const secret = secretNow();
  try {
    yield* clientFor(secret).stream(endpoint, input, options);
  } catch (error) {
    noteEnd(secret, error);
    throw error;
  }
}

/** The body of an answer that is no JSON document, as it arrives, with the key of this tab. */
export async function* text<E extends Endpoint>(
  endpoint: Address<E>,
  input: Input<E>,
  options: CallOptions = {},
): AsyncGenerator<string, void> {
  const secret = secretNow();
  try {
    yield* clientFor(secret).text(endpoint, input, options);
  } catch (error) {
    noteEnd(secret, error);
    throw error;
  }
}

async function withLogin<T>(run: (client: Client) => Promise<T>): Promise<T> {
  const secret = secretNow();
  try {
    return await run(clientFor(secret));
  } catch (error) {
    noteEnd(secret, error);
    throw error;
  }
}

function secretNow(): string | undefined {
  return login.value === 'unknown' ? undefined : login.value?.secret;
}

function workspaceNow(): string | undefined {
  return login.value === 'unknown' ? undefined : login.value?.workspace;
}

/** Forgets a login that has ended, or a workspace that its user is no longer a member of. */
function noteEnd(secret: string | undefined, error: unknown): void {
  if (secret === undefined || !(error instanceof ReceivedError)) return;
  if (error.code === 'unauthenticated') loginEnded(secret);
  if (error.param === 'x-workspace-id') workspaceEnded(secret);
}

function clientFor(secret: string | undefined, workspace = workspaceNow()): Client {
  return createClient({ baseUrl, token: secret, workspace, send, onHeaders: reloadOnce });
}

async function send({ method, url, headers, body, signal }: ClientRequest) {
  const init: RequestInit = {
    method,
    headers,
    body: (body as BodyInit | undefined) ?? null,
    signal: signal ?? null,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  };
  const answer = await fetch(url, init).catch((error) => {
    if (signal?.aborted) throw error;
    throw new Offline();
  });
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: bytesOf(answer) };
}

async function* bytesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Offline();
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** After an update of the daemon, the page of the new version is loaded; once, as a proxy may mix two versions. */
function reloadOnce({ 'x-service-version': version }: Record<string, string>): void {
  if (version === undefined || pageVersion === undefined || version === pageVersion) return;
  if (sessionStorage.getItem(reloadedKey) === version) return;
  sessionStorage.setItem(reloadedKey, version);
  location.reload();
}

/** Whether the gateway answers. */
export function isReachable(): Promise<boolean> {
  return fetch(new URL('healthz', baseUrl), { cache: 'no-store', credentials: 'omit' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** An error in words, with what its reader can do. */
export interface Problem {
  sentence: string;
  requestId: string | undefined;
  remedy: string;
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Offline)
    return {
      sentence: error.message,
      requestId: undefined,
      remedy: typed('Start it with gateway serve, or check your connection.'),
    };
  if (error instanceof ReceivedError)
    return {
      sentence: typed(error.message),
      requestId: error.requestId,
      // Waiting does not help when the sentence names a command to run.
      remedy: / gateway [a-z]/.test(error.message) ? '' : typed(remedies[error.code] ?? ''),
    };
  if (error instanceof NotTheService)
    return { sentence: error.message, requestId: undefined, remedy: 'Something between may have answered.' };
  return { sentence: String(error), requestId: undefined, remedy: 'Reload the page.' };
}

const remedies: Readonly<Record<string, string>> = {
  out_of_scope: 'Sign in with gateway open, or with a key that has this scope.',
  signed_out: 'Sign in with gateway open: this needs a login, not an API key.',
  permission: 'Ask an admin of the workspace.',
  rate_limited: 'Wait a moment.',
  unavailable: 'Try again in a moment.',
};
