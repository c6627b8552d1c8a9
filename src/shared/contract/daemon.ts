import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { VaultState } from './vault.ts';
import { AnyObject, everyone, nullable, Timestamp } from './vocabulary.ts';

/** One provider as the daemon sees it now. */
export const ProviderStatus = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum(['available', 'benched', 'unavailable'], {
      description: '`benched`: it failed too often and is left alone for a while.',
    }),
    models: Type.Integer({ minimum: 0, description: 'How many it offers.' }),
    reason: nullable(
      Type.String({ description: 'Why it is not available, or what else is to know of it, for people.' }),
    ),
  },
  { $id: 'ProviderStatus' },
);

/** How the daemon is doing, for the person who runs it. */
export const DaemonStatus = Type.Object(
  {
    url: Type.String(),
    socket: nullable(
      Type.String({ description: 'The Unix socket that the daemon listens on as well; null without one.' }),
    ),
    pid: Type.Integer(),
    version: Type.String(),
    started_at: Timestamp,
    uptime_ms: Type.Integer({ minimum: 0 }),
    data_dir: Type.String(),
    default_model: nullable(Type.String()),
    storage: Type.Object({
      writable: Type.Boolean(),
      reason: nullable(Type.String({ description: 'Why nothing can be written, for people.' })),
    }),
    vault: Type.Object({
      state: VaultState,
      store: nullable(
        Type.String({ description: 'Where its master key is kept; null before there is one.' }),
      ),
      reason: nullable(Type.String({ description: 'Why it is not open and what helps, for people.' })),
    }),
    providers: Type.Array(ProviderStatus),
  },
  { $id: 'DaemonStatus' },
);

/** Tells the daemon's owner how it is doing. */
export const getStatus = endpoint({
  id: 'getStatus',
  underLoad: 'kept',
  method: 'GET',
  path: '/v1/admin/status',
  summary: 'Get the daemon’s status.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  result: DaemonStatus,
  errors: ['unauthenticated', 'signed_out', 'permission'],
});

/** Asks the daemon to end: running calls are finished first. */
export const stopDaemon = endpoint({
  id: 'stopDaemon',
  underLoad: 'kept',
  method: 'POST',
  path: '/v1/admin/stop',
  summary: 'Stop the daemon.',
  description: 'New calls are refused from now on; running ones have 25 seconds to end.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  result: Type.Object({ stopping: Type.Literal(true), pid: Type.Integer() }),
  errors: ['unauthenticated', 'signed_out', 'permission'],
});

/** Says that the process is up, and nothing more. */
export const health = endpoint({
  id: 'health',
  underLoad: 'kept',
  method: 'GET',
  path: '/healthz',
  summary: 'Tell whether the process is up.',
  tag: 'Daemon',
  access: everyone,
  surface: 'v1',
  result: Type.Object({ status: Type.Literal('ok') }),
  errors: ['unauthenticated'],
});

/** Says whether calls can be served: storage is open, current and writable. */
export const ready = endpoint({
  id: 'ready',
  underLoad: 'kept',
  method: 'GET',
  path: '/readyz',
  summary: 'Tell whether calls can be served.',
  description: 'They can when storage is open and can be written; otherwise the answer is 503 `unavailable`.',
  tag: 'Daemon',
  access: everyone,
  surface: 'v1',
  result: Type.Object({ status: Type.Literal('ready') }),
  errors: ['unauthenticated', 'unavailable'],
});

/** The description of the whole API. */
export const openApi = endpoint({
  id: 'openApi',
  method: 'GET',
  path: '/v1/openapi.json',
  summary: 'Get this description.',
  description: 'The whole API in OpenAPI 3.1.0.',
  tag: 'Daemon',
  access: everyone,
  surface: 'v1',
  result: AnyObject,
  errors: ['unauthenticated'],
});

export type DaemonStatus = Static<typeof DaemonStatus>;
export type ProviderStatus = Static<typeof ProviderStatus>;
