import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { version, versionHeader } from '../../src/shared/version.ts';
import { temporaryHome } from '../support/run-cli.ts';

/** A call that the fake daemon received. */
export interface ReceivedCall {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/** Answers one call; whatever it returns is sent as JSON. */
export type Answer = (call: ReceivedCall, response: ServerResponse, request: IncomingMessage) => unknown;

export interface FakeDaemon {
  url: string;
  home: string;
  /** The environment of a command on the same machine. */
  env: Record<string, string>;
  calls: ReceivedCall[];
  close(): Promise<void>;
}

interface FakeOptions {
  home?: string;
  port?: number;
  version?: string;
}

/**
 * A daemon that answers `METHOD /path` (without the query) from a table and fails unexpected calls. It leaves
 * `daemon.json` and the login key in its home as a real one does.
 */
export async function fakeDaemon(
  answers: Record<string, Answer>,
  options: FakeOptions = {},
): Promise<FakeDaemon> {
  const calls: ReceivedCall[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url: path = '', headers } = request;
    const call = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) };
    calls.push(call);
    response.setHeader(versionHeader, options.version ?? version);
    response.setHeader('x-request-id', 'req_fake');
    const answer = answers[`${method} ${path.split('?')[0]}`];
    if (!answer)
      return fail(response, 500, { code: 'server_error', message: `not expected: ${method} ${path}` });
    const body = await answer(call, response, request);
    if (response.writableEnded || response.headersSent || response.destroyed) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = options.home ?? (await temporaryHome());
  await writeFile(join(home, 'daemon.json'), JSON.stringify(daemonFile(url, home)));
  await writeFile(join(home, 'login-key'), 'gwl_local\n', { mode: 0o600 });
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return { url, home, env: { GATEWAY_HOME: home }, calls, close };
}

/** Sends a failure in the form of `/v1`. */
export function fail(
  response: ServerResponse,
  status: number,
  error: { code: string; message: string; type?: string; param?: string },
): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ error: { type: 'x', param: null, request_id: 'req_fake', ...error } }));
}

/** Sends events as they are given, then `[DONE]`. */
export async function sendEvents(
  response: ServerResponse,
  events: object[],
  { done = true } = {},
): Promise<void> {
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  if (done) response.end('data: [DONE]\n\n');
}

function daemonFile(url: string, home: string) {
  return { url, pid: process.pid, version, data_dir: home, started_at: new Date().toISOString() };
}
