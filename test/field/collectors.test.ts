import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { otlpOf } from '../../src/daemon/config/telemetry.ts';
import { askCollector, type CollectorAnswer } from '../../src/daemon/telemetry/ask-collector.ts';

interface Case {
  cite: string;
  /** What the collector answers. */
  status?: number;
  type?: string;
  body?: string;
  protocol?: string;
  problem: CollectorAnswer['problem'];
  /** In the message or the remedy. */
  says: string;
}

const json = 'application/json';

/** What collectors answer, after public reports; texts are shortened. */
const cases: Case[] = [
  {
    cite: 'AgentOps-AI/agentops#902',
    status: 401,
    body: '{"error":"Unauthorized"}',
    problem: 'key',
    says: 'authorization=Bearer',
  },
  {
    cite: 'open-telemetry/opentelemetry-collector-contrib#34879',
    status: 401,
    type: 'text/plain',
    body: '401 Unauthorized',
    problem: 'key',
    says: 'the headers sent are x-team',
  },
  {
    cite: 'open-telemetry/opentelemetry-collector#13477',
    status: 403,
    problem: 'key',
    says: 'it answers 403',
  },
  {
    cite: 'elastic/apm-server#12353',
    status: 404,
    body: '{"error":"404 page not found"}',
    problem: 'path',
    says: '404 page not found',
  },
  {
    cite: 'open-telemetry/opentelemetry.io#3627',
    status: 404,
    type: 'text/plain',
    body: '404 page not found',
    problem: 'path',
    says: 'gets /v1/traces appended',
  },
  { cite: 'TEAM-BEAT/BEAT-SERVER#502', status: 404, problem: 'path', says: 'Spans are sent to /v1/traces' },
  {
    cite: 'Arize-ai/phoenix#2067',
    status: 415,
    type: 'text/plain',
    body: 'Unsupported content type: application/json',
    problem: 'protocol',
    says: 'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
  },
  {
    cite: 'Scale3-Labs/langtrace#155',
    status: 415,
    protocol: 'http/protobuf',
    problem: 'protocol',
    says: 'OTEL_EXPORTER_OTLP_PROTOCOL=http/json',
  },
  {
    cite: 'open-telemetry/opentelemetry-js#4202',
    status: 400,
    body: '{"code":3,"message":"ReadUint64: unsupported value type"}',
    problem: 'protocol',
    says: 'ReadUint64',
  },
  {
    cite: 'langwatch/langwatch#5937',
    status: 200,
    body: '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}',
    problem: 'partial',
    says: 'too old',
  },
  // These say that they took a part only, and took all.
  {
    cite: 'langwatch/langwatch#2494',
    status: 200,
    body: '{"message":"Trace received successfully.","partialSuccess":{"rejectedSpans":0,"errorMessage":""}}',
    problem: null,
    says: 'it takes spans',
  },
  {
    cite: 'open-telemetry/opentelemetry-go#3438',
    status: 200,
    body: '{"partialSuccess":{}}',
    problem: null,
    says: 'it takes spans',
  },
  {
    cite: 'DEVtheOPS/opencode-plugin-otel#50',
    status: 415,
    type: 'text/plain',
    body: 'Unsupported content type: application/json',
    problem: 'protocol',
    says: 'to http/json',
  },
];

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
}

const asking = (
  url: string,
  protocol = 'http/json',
  headers: Record<string, string> = { 'x-team': 'secret-of-the-team-1' },
) =>
  askCollector({
    url,
    protocol,
    headers,
    resource: {},
    delayMs: 1,
    sampling: { isParentBased: true, ratio: 1 },
  });

test.each(cases)(
  '$cite: $status is $problem',
  async ({ status = 200, type = json, body = '', protocol, problem, says }) => {
    const requests: { headers: unknown; text: string }[] = [];
    const url = await listen(
      createHttp(async (request, response) => {
        let text = '';
        for await (const chunk of request.setEncoding('utf8')) text += chunk;
        requests.push({ headers: request.headers, text });
        response.writeHead(status, { 'content-type': type, connection: 'close' }).end(body);
      }),
    );
    const answer = await asking(url, protocol);
    expect(answer.problem).toBe(problem);
    expect(`${answer.message} ${answer.remedy}`).toContain(says);
    expect(answer.remedy === null).toBe(problem === null);
    const isJson = protocol === undefined;
    expect(requests).toMatchObject([
      {
        headers: {
          'content-type': isJson ? json : 'application/x-protobuf',
          'x-team': 'secret-of-the-team-1',
        },
        text: isJson ? '{"resourceSpans":[]}' : '',
      },
    ]);
  },
);

test('open-telemetry/opentelemetry-js#4166: a port for gRPC speaks HTTP/2 only', async () => {
  const answer = await asking(await listen(createHttp2() as unknown as Server));
  expect(answer).toMatchObject({ problem: 'protocol', remedy: expect.stringContaining('4318') });
});

test('open-telemetry/opentelemetry-collector#7811: nothing listens there', async () => {
  const url = await listen(createTcp());
  const [server] = servers.splice(0);
  server?.close();
  expect(await asking(url)).toMatchObject({
    problem: 'unreachable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('pydantic/logfire#2263: gRPC is no protocol of ours', async () => {
  expect(await asking('http://127.0.0.1:9', 'grpc')).toMatchObject({
    problem: 'protocol',
    remedy: 'Set OTEL_EXPORTER_OTLP_PROTOCOL to http/json or http/protobuf.',
  });
});

test('a page for people is no collector', async () => {
  const url = await listen(
    createHttp((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end('<html></html>');
    }),
  );
  expect(await asking(url)).toMatchObject({ problem: 'path', message: 'it answers with a web page' });
});

test('a key that the collector repeats is not shown', async () => {
  const key = 'k3y-Zq81-wertvoll-7a';
  const url = await listen(
    createHttp((request, response) => {
      response.writeHead(401, { connection: 'close' }).end(`no such key: ${request.headers['x-key']}`);
    }),
  );
  const answer = await asking(url, undefined, { 'x-key': key });
  expect(answer.message).toContain('no such key: [removed]');
});

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const always = { isParentBased: true, ratio: 1 };

/** Variables of OpenTelemetry that people set for the programs of a machine, and were not listened to. */
test.each([
  ['open-telemetry/opentelemetry-python-contrib#1396', { OTEL_TRACES_EXPORTER: 'none' }, undefined],
  ['marimo-team/marimohub#83', { OTEL_TRACES_EXPORTER: 'console' }, undefined],
  ['distribution/distribution#4926', { OTEL_TRACES_EXPORTER: 'otlp, console' }, always],
  [
    'aws-observability/aws-otel-lambda#14',
    { OTEL_TRACES_SAMPLER: 'always_on' },
    { isParentBased: false, ratio: 1 },
  ],
  [
    'davidB/tracing-opentelemetry-instrumentation-sdk#50',
    { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
    { isParentBased: true, ratio: 0 },
  ],
  [
    'anomalyco/opencode#44131',
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
    { isParentBased: true, ratio: 0.1 },
  ],
  ['an unknown one', { OTEL_TRACES_SAMPLER: 'xray', OTEL_TRACES_SAMPLER_ARG: '0.1' }, always],
  [
    'no share',
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'x' },
    { isParentBased: false, ratio: 1 },
  ],
])('%s: %j', (_cite, env, sampling) => {
  expect(otlpOf({}, { ...endpoint, ...env }, [])?.sampling).toEqual(sampling);
});

test.each([
  ['Authorization: Bearer a:b', { Authorization: 'Bearer a:b' }],
  ['x-team=one, authorization : Basic abc==', { 'x-team': 'one', authorization: 'Basic abc==' }],
  ['x-at=http://c.example:1', { 'x-at': 'http://c.example:1' }],
])('langfuse/langfuse#8424: headers as people write them: %s', (written, headers) => {
  const env = { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: written };
  expect(otlpOf({}, env, [])?.headers).toEqual(headers);
});
