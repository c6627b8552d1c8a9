import { isDeepStrictEqual } from 'node:util';
import { trimEnd } from '../../shared/text/trim-text.ts';
import { NetworkFailure, type World } from '../base/world.ts';
import type { CaddyRoute } from '../features/paywalls/export.ts';

/** A running Caddy, configured through its admin API. */
export interface CaddyOptions {
  /** The admin API: `http://127.0.0.1:2019`. */
  admin: string;
  /** The HTTP server in its configuration that gets the route. */
  server: string;
}

const timeoutMs = 4_000;
const bytesMax = 1024 * 1024;

/**
 * Makes Caddy have exactly this route, or none, before its other routes. Reads first, so that a Caddy that has it is not
 * reloaded. Source: the documentation of Caddy's API.
 */
export async function applyToCaddy(
  { admin, server }: CaddyOptions,
  route: CaddyRoute | undefined,
  { id, send }: { id: string; send: World['send'] },
): Promise<void> {
  const base = trimEnd(admin, '/');
  const byId = `${base}/id/${id}`;
  const ask = async (method: 'GET' | 'PUT' | 'PATCH' | 'DELETE', url: string, body?: object) => {
    const json = body === undefined ? undefined : JSON.stringify(body);
    const headers = { accept: 'application/json', ...(json && { 'content-type': 'application/json' }) };
    const request = { method, url, headers, totalTimeoutMs: timeoutMs, ...(json && { body: json }) };
    const answer = await send(request).catch((error: unknown) => {
      const reason = error instanceof NetworkFailure ? error.kind : String(error);
      throw new Error(`the admin API at ${base} cannot be reached: ${reason}`);
    });
    const text = Buffer.from(await answer.body.bytes(bytesMax)).toString();
    return { status: answer.status, text };
  };
  const change = async (method: 'PUT' | 'PATCH' | 'DELETE', url: string, body?: object): Promise<void> => {
    const { status, text } = await ask(method, url, body);
    if (status !== 200) throw new Error(`the change was refused: ${errorIn(text)}`);
  };

  const current = await ask('GET', byId);
  if (current.status === 200) {
    if (route === undefined) return await change('DELETE', byId);
    if (isDeepStrictEqual(JSON.parse(current.text), route)) return;
    return await change('PATCH', byId, route);
  }
  if (route === undefined) return;
  const routes = `${base}/config/apps/http/servers/${encodeURIComponent(server)}/routes`;
  const existing = await ask('GET', routes.slice(0, -'/routes'.length));
  if (existing.status !== 200 || existing.text.trim() === 'null')
    throw new Error(`it has no HTTP server named ${server}`);
  const { routes: others } = JSON.parse(existing.text) as { routes?: object[] };
  await (others ? change('PUT', `${routes}/0`, route) : change('PUT', routes, [route]));
}

function errorIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return error.slice(0, 300);
  } catch {}
  return text.slice(0, 300);
}
