import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { SseReader } from '../../src/shared/http/sse.ts';
import { endpoints } from './endpoints.ts';

/** Gets events of a watched daemon that break the schema of their endpoint, by its port. */
const reporters = new Map<number, (violation: string) => void>();

const streaming = endpoints
  .filter(({ stream }) => stream !== undefined)
  .map((endpoint) => ({ endpoint, path: pathPattern(endpoint) }));

const validators = new Map<TSchema, Validator>();

subscribe('http.server.response.created', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const report = reporters.get(request.socket.localPort ?? 0) ?? reportAll;
  const endpoint = report && endpointOf(request);
  if (endpoint) watch(response, endpoint, report);
});

/**
 * Compares all server-sent events that a daemon in this process writes with the schemas of their endpoints. Returns a
 * function that ends this and throws if any event broke its schema.
 */
export function checkStreams(url: string): () => void {
  const port = Number(new URL(url).port);
  const found: string[] = [];
  reporters.set(port, (violation) => found.push(violation));
  return () => {
    reporters.delete(port);
    if (found.length > 0) throw new Error(`events that break their schemas:\n${found.join('\n')}`);
  };
}

let reportAll: ((violation: string) => void) | undefined;

/** Compares the server-sent events of all daemons in this process with their schemas, until it ends. */
export function checkAllStreams(report: (violation: string) => void): void {
  reportAll = report;
}

/** What is wrong with an event, in a sentence; undefined if it has the schema. */
export function violationOf(event: unknown, schema: TSchema): string | undefined {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(event)) return undefined;
  const errors = validator.Errors(event).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return `${errors.join(', ')}: ${JSON.stringify(event).slice(0, 2_000)}`;
}

function watch(
  response: ServerResponse,
  { id, stream }: Endpoint,
  report: (violation: string) => void,
): void {
  const reader = new SseReader();
  let isStream: boolean | undefined;
  const read = (chunk: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk)
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    isStream ??= /^(data|event|id|retry|):/.test(bytes.subarray(0, 8).toString());
    if (!isStream) return;
    for (const { data } of reader.push(bytes)) {
      if (data === '[DONE]' && stream?.done) continue;
      const violation = violationOf(JSON.parse(data), stream?.event as TSchema);
      if (violation) report(`${id}: ${violation}`);
    }
  };
  for (const name of ['write', 'end'] as const) {
    const original = response[name] as (...values: unknown[]) => unknown;
    response[name] = (...values: unknown[]) => {
      read(values[0]);
      return original.apply(response, values) as never;
    };
  }
}

function endpointOf({ method, url }: IncomingMessage): Endpoint | undefined {
  const path = url?.replace(/\?.*/s, '') ?? '';
  return streaming.find((each) => each.endpoint.method === method && each.path.test(path))?.endpoint;
}

function pathPattern({ path }: Endpoint): RegExp {
  return new RegExp(`^${path.replace(/\{[^}]*\.\.\.\}/g, '.+').replace(/\{[^}]*\}/g, '[^/]+')}/?$`);
}
