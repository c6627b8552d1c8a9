import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

interface Value {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
}

interface Attribute {
  key: string;
  value: Value;
}

interface WireSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number };
}

/** A span as a collector reads it. Kind 2 is a server's, 3 a client's; status 2 is an error. */
export interface CollectedSpan extends Omit<WireSpan, 'attributes'> {
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

export interface SpanCollector {
  url: string;
  spans: CollectedSpan[];
  requests: { path: string; headers: IncomingHttpHeaders; text: string }[];
  /** Waits for the spans whose attribute has that value. */
  until(count: number, request: string): Promise<CollectedSpan[]>;
  close(): Promise<void>;
}

interface CollectorOptions {
  /** Takes connections and never answers. */
  hangs?: boolean;
  /** Of each answer; 200 by default. */
  status?: number;
  /** How many spans of a request it says that it refused. */
  refused?: number;
}

/** Takes spans on a free port of loopback. */
export async function startSpanCollector({
  hangs = false,
  status = 200,
  refused = 0,
}: CollectorOptions = {}): Promise<SpanCollector> {
  const spans: CollectedSpan[] = [];
  const requests: SpanCollector['requests'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    requests.push({ path: request.url ?? '', headers: request.headers, text });
    if (hangs) return;
    if (request.headers['content-type'] === 'application/json') spans.push(...spansIn(text));
    const answer =
      refused === 0 ? {} : { partialSuccess: { rejectedSpans: refused, errorMessage: 'too old' } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    async until(count, request) {
      const ofTrace = () => {
        const server = spans.find(({ attributes }) => attributes['gateway.request.id'] === request);
        return spans.filter(({ traceId }) => traceId === server?.traceId);
      };
      await eventually('all spans of the request', () => ofTrace().length >= count);
      return ofTrace();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spansIn(text: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(text) as {
    resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: read(span.attributes),
        resource: read(resource.attributes),
      })),
    ),
  );
}

function read(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Value): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plain);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
