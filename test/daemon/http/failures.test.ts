import { describe, expect, test } from 'vitest';
import type { FailedRequest } from '../../../src/daemon/base/failed-request.ts';
import { implement } from '../../../src/daemon/base/handler.ts';
import { Overload } from '../../../src/daemon/http/protection/overload.ts';
import type { FinishedRequest, HttpServerOptions } from '../../../src/daemon/http/server-options.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { aListeningServer, anEndpoint, aStream, echo, gate, Wire } from './http-fixture.ts';

/** A listening server that reports its failures. */
async function aReportingServer(options: Partial<HttpServerOptions> = {}, handlers = [echo]) {
  const failed: FailedRequest[] = [];
  const fixture = await aListeningServer(handlers, {
    ...options,
    onFailure: (failure) => failed.push(failure),
  });
  const failures = () => failed.map(({ error, status }) => [error?.code, status]);
  return { ...fixture, failed, failures };
}

const head = (port: number, ...headers: string[]) =>
  [`POST /v1/echo?key=hidden HTTP/1.1`, `host: localhost:${port}`, ...headers, '', ''].join('\r\n');
const json = 'content-type: application/json';

test('a report that fails does not affect its request, and is logged', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  const reports = { onFinish: broken, onFailure: broken, onParent: broken };
  const { port, logged, server } = await aListeningServer([echo], reports);
  const headers = [json, 'traceparent: x', 'content-length: 1', 'connection: close'];
  const received = await new Wire(port).send(`${head(port, ...headers)}{`).all();
  expect(received).toMatch(/^HTTP\/1\.1 400 .*invalid_json/s);
  await eventually('it has ended', () => server.running().requests === 0);
  expect(logged.map(({ message }) => message)).toEqual(Array(3).fill('a request could not be reported'));
});

describe('a failed request is reported once', () => {
  test.each<[string, string[], string, [string, number]]>([
    ['with a wrong key', ['authorization: Bearer wrong'], '', ['unauthenticated', 401]],
    ['with a wrong body', [json, 'content-length: 1'], '{', ['invalid_json', 400]],
    ['that is too large', [json, 'content-length: 99999999'], '', ['limit_exceeded', 413]],
    [
      'with a wrong content type',
      ['content-type: text/html', 'content-length: 1'],
      'x',
      ['unsupported_media_type', 415],
    ],
    ['with a foreign host', ['host: evil.example'], '', ['host_not_allowed', 403]],
  ])('%s', async (_what, headers, body, expected) => {
    const { port, failed, failures, finished } = await aReportingServer();
    const wire = new Wire(port).send(head(port, ...headers) + body);
    await wire.until(/request_id/);
    wire.socket.destroy();
    await eventually('the request is finished', () => finished[0]);
    expect(failures()).toEqual([expected]);
    expect(failed[0]).toMatchObject({ requestId: 'req_1', method: 'POST', remoteAddress: '127.0.0.1' });
    expect(finished[0]?.failure?.error).toBe(failed[0]?.error);
  });

  test('that the daemon has no room for', async () => {
    const overload = new Overload();
    overload.sample({ loopDelayMs: 0, memoryShare: 0, heapShare: 0, connectionsShare: 0, isDiskFull: true });
    const { url, failures } = await aReportingServer({ overload });
    await (await fetch(`${url}/v1/echo`, { method: 'POST' })).text();
    expect(failures()).toEqual([['unavailable', 503]]);
  });

  test('with its caller, endpoint and body when its handler fails', async () => {
    const failing = implement(echo.endpoint, async () => {
      throw new ApiError('no_route');
    });
    const { url, failed } = await aReportingServer({}, [failing]);
    const body = JSON.stringify({ model: 'any' });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer login' };
    await (await fetch(`${url}/v1/echo`, { method: 'POST', headers, body })).text();
    expect(failed).toMatchObject([
      { endpoint: { id: 'echo' }, caller: { kind: 'login' }, body: { model: 'any' }, status: 503 },
    ]);
  });
});

describe('a client that leaves', () => {
  test('before its body arrived is reported without an error', async () => {
    const { port, failures, finished } = await aReportingServer();
    const wire = new Wire(port).send(head(port, json, 'content-length: 10', 'expect: 100-continue'));
    await wire.until(/100 Continue/);
    wire.socket.destroy();
    await eventually('the request is finished', () => finished[0]);
    expect(failures()).toEqual([[undefined, null]]);
  });

  test('while its handler works is reported if the handler fails', async () => {
    const [started, release] = [gate(), gate()];
    const working = implement(echo.endpoint, async () => {
      started.resolve();
      await release.promise;
      throw new Error('nobody waits');
    });
    const { port, failures, finished } = await aReportingServer({}, [working]);
    const wire = new Wire(port).send(head(port, json, 'content-length: 0'));
    await started.promise;
    wire.socket.destroy();
    await eventually('the request is finished', () => finished[0]);
    expect(failures()).toEqual([]);
    release.resolve();
    await eventually('the failure is reported', () => failures()[0]);
    expect(failures()).toEqual([[undefined, null]]);
  });

  test('a stream that has begun is none', async () => {
    const later = gate();
    const { url, failures, finished } = await aReportingServer({}, [aStream(later.promise)]);
    const leave = new AbortController();
    const answer = await fetch(`${url}/v1/things`, { signal: leave.signal });
    await answer.body?.getReader().read();
    leave.abort();
    const request: FinishedRequest = await eventually('the request is finished', () => finished[0]);
    later.resolve();
    expect([request.aborted, failures()]).toEqual([true, []]);
  });
});

test('a request that took too long to arrive is reported as that', async () => {
  const { port, failures, finished } = await aReportingServer({
    limits: { requestTimeoutMs: 200, headersTimeoutMs: 100 },
  });
  const wire = new Wire(port).send(head(port, json, 'content-length: 10'));
  await wire.all();
  await eventually('the request is finished', () => finished[0]);
  expect(failures()).toEqual([['request_timeout', 408]]);
});

test('requests that succeed are not reported', async () => {
  const { url, failures, finished } = await aReportingServer({}, [
    implement(anEndpoint({ method: 'GET', path: '/v1/fine' }), async () => ({})),
  ]);
  await (await fetch(`${url}/v1/fine`)).text();
  await eventually('the request is finished', () => finished[0]);
  expect([finished[0]?.failure, failures()]).toEqual([undefined, []]);
});
