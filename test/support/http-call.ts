import { Agent, type AgentOptions, type IncomingHttpHeaders, request as send } from 'node:http';

export interface HttpCall {
  method?: string;
  /** A header that is undefined is not sent. */
  headers?: Record<string, string | undefined>;
  body?: Buffer | string | undefined;
  /** Sends the body in chunks, without its length. */
  chunked?: boolean | undefined;
  /** Of a successful answer, which has no end, only the headers are awaited. */
  endless?: boolean;
  agent?: Agent;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Persistent connections. Idle ones are closed here, before the daemon does that while a request may be on its way. */
export function persistentAgent(options: AgentOptions = {}): Agent {
  return new Agent({ ...options, keepAlive: true, timeout: 1_000 });
}

const shared = persistentAgent();

/**
 * One request over a persistent connection. `fetch` takes a millisecond more of processor time for each, and a new connection
 * where an answer comes before the whole body was sent.
 */
export function httpCall(
  url: string,
  { method = 'GET', headers = {}, body, chunked, endless, agent = shared }: HttpCall = {},
): Promise<HttpAnswer> {
  const length = body === undefined || chunked ? undefined : String(Buffer.byteLength(body));
  const all = Object.entries({ 'content-length': length, ...headers });
  const sent = Object.fromEntries(all.filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const request = send(url, { method, agent, headers: sent as Record<string, string> });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      const finish = () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        });
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', finish);
      if (!endless || response.statusCode !== 200) return;
      finish();
      response.destroy();
    });
    request.on('error', reject);
    request.end(body);
  });
}
