import { beforeEach, describe, expect, test } from 'vitest';
import type { NewEvent } from '../../../../src/daemon/features/events/index.ts';
import { type Rejection, Rejections, reasonOf } from '../../../../src/daemon/features/traces/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { type FakeWorld, fakeWorld, settled } from '../../../support/fake-world.ts';
import { inferenceOf } from '../../../support/inference.ts';

let world: FakeWorld;
let stored: Rejection[];
let published: Pick<NewEvent, 'type' | 'workspaceId' | 'data'>[];
let counted: string[];
let settledCalls: Set<string>;
let isDiskFull: boolean;
let rejections: Rejections;

beforeEach(() => {
  world = fakeWorld();
  [stored, published, counted] = [[], [], []];
  settledCalls = new Set();
  isDiskFull = false;
  rejections = new Rejections({
    store: {
      async recordRejection(rejection, event) {
        if (isDiskFull) throw new Error('the disk is full');
        stored.push(rejection);
        published.push(event);
      },
    },
    feed: { announce: () => {}, publish: (event) => published.push(event) },
    world,
    wasSettled: (requestId) => settledCalls.has(requestId),
    onRejected: (endpoint, code) => counted.push(`${endpoint} ${code}`),
    onRecorded: () => {},
  });
});

let requests = 0;

function fail(changes: Partial<Rejection> = {}): void {
  requests += 1;
  rejections.onFailedRequest({
    requestId: `req_${requests}`,
    workspaceId: 'ws_1',
    keyId: 'key_1',
    address: null,
    endpoint: '/v1/responses',
    model: 'sim/echo',
    streamed: false,
    httpStatus: 400,
    errorCode: 'invalid_request',
    param: 'temperature',
    message: '`temperature` must be a number or null.',
    totalMs: 3,
    labels: noLabels,
    ...changes,
  });
}

const badKey = (address: string): Partial<Rejection> => ({
  workspaceId: null,
  keyId: null,
  address,
  httpStatus: 401,
  errorCode: 'unauthenticated',
});
/** Every rejected call is either recorded or counted by the record after it. */
const total = () => stored.reduce((sum, { more }) => sum + 1 + more, 0);

describe('a rejected call', () => {
  test('is a trace and an event, with its reason', async () => {
    fail({ requestId: 'req_bad' });
    await settled();
    expect(stored).toMatchObject([
      { requestId: 'req_bad', completedAt: world.now(), createdAt: world.now() - 3, more: 0 },
    ]);
    expect(published).toMatchObject([
      {
        type: 'request.rejected',
        workspaceId: 'ws_1',
        data: {
          request_id: 'req_bad',
          key: 'key_1',
          model: 'sim/echo',
          status: 'rejected',
          http_status: 400,
          error_code: 'invalid_request',
          param: 'temperature',
          message: '`temperature` must be a number or null.',
          more: 0,
        },
      },
    ]);
    expect(counted).toEqual(['/v1/responses invalid_request']);
  });

  test('is reported once when both the pipeline and the server know of it', async () => {
    const caller = {
      kind: 'key' as const,
      keyId: 'key_1',
      workspaceId: 'ws_1',
      ownerId: 'usr_1',
      scopes: new Set<never>(),
      revoked: new AbortController().signal,
    };
    const call = {
      caller,
      requestId: 'req_limit',
      endpoint: '/v1/responses',
      inference: inferenceOf(),
      options: {} as never,
      labels: noLabels,
      signal: new AbortController().signal,
    };
    const error = new ApiError('limit_reached', { param: 'limits.spend_cap' });
    rejections.onRejected({ call, error, ms: 2 });
    fail({ requestId: 'req_limit' });
    await settled();
    expect(stored).toMatchObject([
      { errorCode: 'limit_reached', param: 'limits.spend_cap', httpStatus: 403 },
    ]);
  });

  test('is none if the call was settled', () => {
    settledCalls.add('req_settled');
    fail({ requestId: 'req_settled' });
    expect([stored, counted]).toEqual([[], []]);
  });

  test('is still shown to readers when it cannot be stored', async () => {
    isDiskFull = true;
    fail({ errorCode: 'unavailable' });
    await settled();
    expect(published).toMatchObject([{ type: 'request.rejected', data: { error_code: 'unavailable' } }]);
  });
});

describe('a flood of rejected calls', () => {
  test('is recorded ten times, and counted with the last one at the end of the minute', async () => {
    for (let i = 0; i < 5000; i += 1) fail(badKey('10.0.0.1'));
    await settled();
    expect(stored).toHaveLength(10);
    await rejections.flush();
    expect(stored).toHaveLength(11);
    expect(stored.at(-1)).toMatchObject({ requestId: `req_${requests}`, more: 4989 });
    expect(counted).toHaveLength(5000);
    fail(badKey('10.0.0.1'));
    await settled();
    expect(stored).toHaveLength(12);
  });

  test('of many keys, addresses and reasons fills neither memory nor disk, and each call counts once', async () => {
    for (let i = 0; i < 20_000; i += 1) {
      fail({ ...badKey(`10.0.${i % 251}.${i % 83}`), errorCode: `code_${i % 7}` });
    }
    await rejections.flush();
    expect(stored.length).toBeLessThan(40);
    expect(total()).toBe(20_000);
  });

  test('does not hide the rejected calls of other workspaces, nor other limits of a key', async () => {
    for (let i = 0; i < 100; i += 1) fail(badKey('10.0.0.1'));
    for (let i = 0; i < 15; i += 1) fail({ errorCode: 'limit_reached', param: 'limits.spend_cap' });
    fail({ errorCode: 'limit_reached', param: 'limits.requests_per_minute' });
    fail({ workspaceId: 'ws_2' });
    await settled();
    expect(stored.filter(({ workspaceId }) => workspaceId === 'ws_1')).toHaveLength(11);
    expect(stored.filter(({ workspaceId }) => workspaceId === 'ws_2')).toHaveLength(1);
  });

  test('is counted to its end when the daemon stops', async () => {
    const stop = new AbortController();
    const recording = rejections.keepRecording(stop.signal, () => {});
    for (let i = 0; i < 30; i += 1) fail();
    stop.abort();
    await recording;
    expect(total()).toBe(30);
  });
});

test('the words of a provider are replaced', () => {
  const failure = new ApiError('invalid_request', {
    message: 'You said: secret',
    cause: new Error('secret'),
  });
  expect(reasonOf(failure).message).toBe('The request is not valid.');
  expect(reasonOf(new Error('secret'))).toMatchObject({ errorCode: 'server_error' });
  expect(JSON.stringify(reasonOf(new Error('secret')))).not.toContain('secret');
});
