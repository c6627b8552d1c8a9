import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { openSocket } from '../support/socket-client.ts';
import { type SpanCollector, startSpanCollector } from '../support/span-collector.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const server = 2;
const client = 3;

async function ask(daemon: RunningDaemon, json: Record<string, unknown>, headers = {}): Promise<string> {
  const answer = await daemon.fetch('/v1/responses', { json, headers });
  await answer.text();
  return answer.headers.get('x-request-id') as string;
}

describe('with a collector', () => {
  let collector: SpanCollector;
  let daemon: RunningDaemon;

  beforeAll(async () => {
    collector = await startSpanCollector();
    daemon = await startDaemon({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-team=inference%20team',
        OTEL_BSP_SCHEDULE_DELAY: '50',
        OTEL_SERVICE_NAME: 'gateway-under-test',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
    });
  });

  afterAll(async () => {
    await daemon.stop();
    await collector.close();
  });

  test('a call is a span, and so is each attempt', async () => {
    const labels = { 'x-service-user': 'ann', 'x-service-conversation': 'talk', 'x-service-tags': 'team=a' };
    const request = await ask(
      daemon,
      { model: 'sim/echo', input: 'Said in confidence.', stream: true },
      labels,
    );
    const spans = await collector.until(2, request);
    const outer = spans.find(({ kind }) => kind === server);
    const inner = spans.find(({ kind }) => kind === client);
    expect(outer).toMatchObject({
      name: 'POST /v1/responses',
      attributes: {
        'http.route': '/v1/responses',
        'url.scheme': 'http',
        'gateway.status': 'completed',
        'gateway.attempts': 1,
        'gateway.settlement_ms': expect.any(Number),
      },
      resource: { 'service.name': 'gateway-under-test', 'deployment.environment.name': 'test' },
    });
    // Reports: BerriAI/litellm#3560, open-webui/open-webui#5619, langfuse/langfuse-docs#3415.
    for (const span of [outer, inner])
      expect(span?.attributes).toMatchObject({
        'user.id': 'ann',
        'session.id': 'talk',
        'gen_ai.conversation.id': 'talk',
        'gateway.tag.team': 'a',
      });
    expect(outer?.parentSpanId).toBeUndefined();
    expect(inner).toMatchObject({
      name: 'chat sim/echo',
      parentSpanId: outer?.spanId,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'simulator',
        'gen_ai.request.model': 'sim/echo',
        'gen_ai.response.model': 'sim/echo',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.request.stream': true,
      },
    });
    expect(inner?.attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
    expect(inner?.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    expect(BigInt(inner?.startTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(
      BigInt(outer?.startTimeUnixNano ?? 0),
    );
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-team': 'inference team' },
    });
    expect(collector.requests.map(({ text }) => text).join('')).not.toContain('in confidence');
  });

  test('a call for embeddings is named so', async () => {
    const answer = await daemon.fetch('/v1/embeddings', {
      json: { model: 'sim/embedding', input: 'Hello.' },
    });
    const spans = await collector.until(2, answer.headers.get('x-request-id') as string);
    expect(spans.find(({ kind }) => kind === client)).toMatchObject({
      name: 'embeddings sim/embedding',
      attributes: { 'gen_ai.operation.name': 'embeddings', 'gen_ai.usage.output_tokens': 0 },
    });
  });

  test('a failed attempt states its reason', async () => {
    const request = await ask(daemon, { model: 'sim/limited', input: 'Hello.' });
    const spans = await collector.until(2, request);
    expect(spans.find(({ kind }) => kind === server)).toMatchObject({
      attributes: { 'error.type': 'rate_limited', 'gateway.status': 'failed' },
      status: { code: 2 },
    });
    expect(spans.filter(({ kind }) => kind === client)[0]).toMatchObject({
      attributes: { 'error.type': 'rate_limited', 'http.response.status_code': 429 },
      status: { code: 2 },
    });
  });

  test('a call that reached no provider is a span, too', async () => {
    const request = await ask(daemon, { model: 'no/such-model', input: 'Hello.' });
    const [span] = await collector.until(1, request);
    expect(span).toMatchObject({
      kind: server,
      attributes: { 'error.type': 'model_not_found', 'http.response.status_code': 404 },
    });
  });

  test('the caller’s span is the parent, unless it was not sampled', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const parent = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const unsampled = { traceparent: '00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' };
    const silent = await ask(daemon, { model: 'sim/echo', input: 'Hello.' }, unsampled);
    const request = await ask(daemon, { model: 'sim/echo', input: 'Hello.' }, parent);
    const spans = await collector.until(2, request);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(spans.find(({ kind }) => kind === server)?.parentSpanId).toBe('00f067aa0ba902b7');
    expect(collector.spans.some(({ attributes }) => attributes['gateway.request.id'] === silent)).toBe(false);
  });

  test('a socket message belongs to the span that it names, else to that of the handshake', async () => {
    const spanOf = (trace: string) => ({ traceparent: `00-${trace.repeat(32)}-${trace.repeat(16)}-01` });
    const socket = await openSocket(`${daemon.url}/v1/responses`, { key: daemon.key, headers: spanOf('a') });
    const say = async (message: object) => {
      const asked = { type: 'response.create', model: 'sim/echo', input: 'Hello.', store: false, ...message };
      const events = await socket.ask(asked);
      return events.find(({ type }) => type === 'service:route').request_id as string;
    };
    const named = { client_metadata: { ws_request_header_traceparent: spanOf('b').traceparent } };
    const turns = [
      [await say({}), 'a'],
      [await say(named), 'b'],
      [await say({ client_metadata: { other: 1 } }), 'a'],
    ] as const;
    for (const [request, trace] of turns) {
      const spans = await collector.until(2, request);
      expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace.repeat(32)]));
      expect(spans.find(({ kind }) => kind === server)?.parentSpanId).toBe(trace.repeat(16));
    }
  });

  test('an invalid header changes nothing', async () => {
    for (const traceparent of ['', 'x', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'ff-1-2-3']) {
      const request = await ask(daemon, { model: 'sim/echo', input: 'Hello.' }, { traceparent });
      const spans = await collector.until(2, request);
      expect(spans.find(({ kind }) => kind === server)?.parentSpanId).toBeUndefined();
    }
  });
});

test('pending spans are sent before the daemon stops', async () => {
  const collector = await startSpanCollector();
  const daemon = await startDaemon({ config: `telemetry: {otlp: {endpoint: "${collector.url}/"}}\n` });
  const request = await ask(daemon, { model: 'sim/echo', input: 'Hello.' });
  expect(await daemon.stop()).toBe(0);
  expect(
    collector.spans.filter(({ attributes }) => attributes['gateway.request.id'] === request),
  ).toHaveLength(1);
  await collector.close();
});

test('a hanging or missing collector delays neither calls nor the stop', async () => {
  const collector = await startSpanCollector({ hangs: true });
  const asked = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => asked.mockRestore());
  for (const url of [collector.url, 'http://127.0.0.1:9']) {
    const daemon = await startDaemon({ env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` } });
    for (let i = 0; i < 20; i += 1) {
      const answer = await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello.' } });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    expect(await daemon.stop()).toBe(0);
    const waits = asked.mock.calls.map(([, ms]) => ms);
    // By default, it would wait for half a minute.
    expect([waits.includes(5_000), waits.includes(30_000)]).toEqual([true, false]);
    asked.mockClear();
  }
  expect(collector.requests.length).toBeGreaterThan(0);
  await collector.close();
});

/** A call of a daemon whose spans go there, and what its log and metrics say of them then. */
async function sentTo(collector: SpanCollector, env: Record<string, string> = {}) {
  const daemon = await startDaemon({
    config: 'log: {level: warn}\n',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '10', ...env },
  });
  onTestFinished(async () => {
    await daemon.stop();
    await collector.close();
  });
  const metrics = async () => {
    const answer = await daemon.fetch('/metrics', { headers: { authorization: `Bearer ${daemon.login}` } });
    return (await answer.text()).match(/^gateway_spans_total.*$/gm) ?? [];
  };
  const log = () => readFileSync(join(daemon.home, 'gateway.log'), 'utf8');
  await ask(daemon, { model: 'sim/echo', input: 'Hello.' });
  return { metrics, log, home: daemon.home };
}

// Reports: langfuse/langfuse#7930, #8424, anthropics/claude-code#1712, open-telemetry/opentelemetry-go#3264, envoyproxy/envoy#47489.
describe('a collector that does not take spans is seen', () => {
  test.each([
    ['a wrong key', { status: 401 }, /401|Unauthorized/],
    ['a wrong path', { status: 404 }, /404|Not Found/],
    ['a partial success', { refused: 2 }, /too old/],
  ])('%s', async (_name, options, reason) => {
    const { metrics, log } = await sentTo(await startSpanCollector(options));
    await expect.poll(metrics).toContain('gateway_spans_total{outcome="lost"} 2');
    expect(log()).toMatch(reason);
    expect(log()).toContain('spans were not delivered');
  });

  test('doctor asks it and says what to change, and status counts', async () => {
    const { metrics, home } = await sentTo(await startSpanCollector({ status: 401 }));
    await expect.poll(metrics).toContain('gateway_spans_total{outcome="lost"} 2');
    const env = { GATEWAY_HOME: home };
    const { stdout } = await runCli(['doctor', '--json'], { env });
    const findings = JSON.parse(stdout) as { check: string }[];
    expect(findings.filter(({ check }) => check === 'spans')).toMatchObject([
      {
        state: 'broken',
        message: expect.stringContaining('it answers 401'),
        remedy: expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS'),
      },
    ]);
    const status = await runCli(['status', '--json=spans'], { env });
    expect(JSON.parse(status.stdout)).toMatchObject({
      spans: { delivered: 0, lost: 2, protocol: 'http/json' },
    });
  });

  test('a protocol that is not ours is named at the start', async () => {
    const collector = await startSpanCollector();
    const { log, metrics } = await sentTo(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(log()).toContain('OTEL_EXPORTER_OTLP_PROTOCOL must be http/json or http/protobuf');
    expect(await metrics()).toEqual([]);
    expect(collector.requests).toEqual([]);
  });
});

// Reports: Arize-ai/phoenix#2067, vectordotdev/vector#26456, equinix-labs/otel-cli#142.
test('spans are sent as protocol buffers to a collector that takes nothing else', async () => {
  const collector = await startSpanCollector();
  const { metrics } = await sentTo(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' });
  await expect.poll(metrics).toContain('gateway_spans_total{outcome="delivered"} 2');
  const [{ headers, text } = { headers: {}, text: '' }] = collector.requests;
  expect(headers['content-type']).toBe('application/x-protobuf');
  expect(text).toContain('POST /v1/responses');
});
