import { beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/daemon/base/handler.ts';
import { aboutHandlers } from '../../../src/daemon/features/about/index.ts';
import {
  type DaemonStatus,
  getStatus,
  health,
  openApi,
  ready,
  stopDaemon,
} from '../../../src/shared/contract/daemon.ts';
import { callHandler } from '../../support/call-handler.ts';

const anonymous: Caller = { kind: 'anonymous' };
const owner: Caller = {
  kind: 'login',
  loginId: 'key_login',
  userId: 'usr_ann',
  workspaceId: 'ws_acme',
  revoked: new AbortController().signal,
};

const model = {
  default_model: 'sim/assistant',
  default_model_source: 'simulator',
  suggested_model: null,
} as const;

const status: DaemonStatus = {
  url: 'http://127.0.0.1:4100',
  socket: null,
  pid: 42,
  version: '0.1.0',
  started_at: '2026-11-21T08:00:00.000Z',
  uptime_ms: 1500,
  data_dir: '/data',
  workers: 1,
  ...model,
  storage: { writable: true, reason: null, engine: 'sqlite', server: null },
  wallet: { backend: 'embedded', state: 'ready', problems: [] },
  vault: { state: 'no_vault', store: null, reason: null },
  spans: null,
  providers: [{ name: 'simulator', state: 'available', models: 4, reason: null }],
};

let storage: { writable: boolean; reason: string | undefined };
let sinceRenewalMs: number;
let stops: number;
let documents: number;
let handlers: ReturnType<typeof aboutHandlers>;

beforeEach(() => {
  storage = { writable: true, reason: undefined };
  sinceRenewalMs = 0;
  stops = 0;
  documents = 0;
  handlers = aboutHandlers({
    status: async () => status,
    serviceStatus: async () => ({ ...model, version: '0.1.0', writable: true, providers: [] }),
    checkCollector: async () => null,
    collector: () => null,
    stop: () => {
      stops += 1;
    },
    pid: 42,
    storageState: () => storage,
    sinceRenewal: () => sinceRenewalMs,
    openApiDocument: () => {
      documents += 1;
      return { openapi: '3.1.0' };
    },
  });
});

test('health is public, even when nothing can be written', async () => {
  storage = { writable: false, reason: 'disk full' };
  expect(await callHandler(handlers, health, { caller: anonymous })).toEqual({ status: 'ok' });
});

test('is ready while it can write, and reports why not', async () => {
  expect(await callHandler(handlers, ready, { caller: anonymous })).toEqual({ status: 'ready' });
  storage = { writable: false, reason: 'disk full' };
  await expect(callHandler(handlers, ready, { caller: anonymous })).rejects.toMatchObject({
    code: 'unavailable',
    status: 503,
    message: expect.stringContaining('disk full'),
  });
});

test('is not ready while the term was not renewed for three seconds', async () => {
  sinceRenewalMs = 3000;
  expect(await callHandler(handlers, ready, { caller: anonymous })).toEqual({ status: 'ready' });
  sinceRenewalMs = 3001;
  await expect(callHandler(handlers, ready, { caller: anonymous })).rejects.toMatchObject({ status: 503 });
});

test('the OpenAPI document is generated once', async () => {
  for (let i = 0; i < 3; i += 1) {
    expect(await callHandler(handlers, openApi, { caller: anonymous })).toEqual({ openapi: '3.1.0' });
  }
  expect(documents).toBe(1);
});

describe('the owner of the daemon', () => {
  test('sees its status', async () => {
    expect(await callHandler(handlers, getStatus, { caller: owner })).toEqual(status);
  });

  test('can stop it', async () => {
    expect(await callHandler(handlers, stopDaemon, { caller: owner })).toEqual({ stopping: true, pid: 42 });
    expect(stops).toBe(1);
  });
});
