import type { Endpoint } from '../../src/shared/contract/endpoint.ts';

/** What an example may name: things that are there when it is sent. */
export interface Things {
  workspace: string;
  /** A stored response. */
  response: string;
  /** A finished request. */
  request: string;
  /** An active API key. */
  key: string;
}

export interface ExampleCall {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

const hello = { model: 'sim/echo', input: 'Hello.' };

/** A call that succeeds, for each endpoint by its id. */
const examples: Record<string, (things: Things) => ExampleCall> = {
  createResponse: () => ({ body: hello }),
  createChatCompletion: () => ({
    body: { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello.' }] },
  }),
  getResponse: ({ response }) => ({ params: { id: response } }),
  deleteResponse: ({ response }) => ({ params: { id: response } }),
  listModels: () => ({}),
  getModel: () => ({ params: { model: 'sim/assistant' } }),
  listRates: () => ({}),
  listKeys: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  issueKey: ({ workspace }) => ({
    params: { workspace },
    body: { name: 'another', scopes: ['responses'] },
  }),
  revokeKey: ({ workspace, key }) => ({ params: { workspace, key } }),
  getKey: () => ({}),
  getUsage: ({ request }) => ({ params: { request_id: request } }),
  listUsage: () => ({ query: { group_by: 'model' } }),
  tokensServed: () => ({}),
  streamEvents: () => ({ query: { after: '0' } }),
  health: () => ({}),
  ready: () => ({}),
  openApi: () => ({}),
  getStatus: () => ({}),
  stopDaemon: () => ({}),
};

/** The example of an endpoint; one without an example fails, so that no endpoint goes untried. */
export function exampleOf({ id }: Endpoint, things: Things): ExampleCall {
  const example = examples[id];
  if (example === undefined) throw new Error(`example-calls.ts has no example of ${id}`);
  return example(things);
}

/** What `fetch` is called with. */
export function requestOf(
  { method, path }: Endpoint,
  { params = {}, query = {}, body }: ExampleCall,
): { path: string; method: string; headers: Record<string, string>; body?: string } {
  const filled = path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return {
    method,
    path: search === '' ? filled : `${filled}?${search}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}
