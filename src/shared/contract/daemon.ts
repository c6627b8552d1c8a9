import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { VaultState } from './vault.ts';
import { AnyObject, everyone, everyoneUnlimited, nullable, Timestamp } from './vocabulary.ts';
import { WalletBackendStatus } from './wallet-backend.ts';

/** The current state of a provider. */
export const ProviderStatus = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum(['available', 'benched', 'unavailable'], {
      description: '`benched`: skipped for a while after repeated failures.',
    }),
    models: Type.Integer({ minimum: 0, description: 'The number of models it offers.' }),
    reason: nullable(Type.String({ description: 'Why it is unavailable, or other advice, for people.' })),
  },
  { $id: 'ProviderStatus' },
);

const defaultModel = {
  default_model: Type.String({ description: 'The model of commands, and of responses, that name none.' }),
  default_model_source: Type.Enum(['configuration', 'local_server', 'simulator'], {
    description:
      '`configuration`: the setting `default_model`. Without it: a model of a local server, else the simulator’s. Commands use either; a response then has to name its model.',
  }),
  suggested_model: nullable(
    Type.String({
      description: 'An available model to configure as the default; null if one is configured.',
    }),
  ),
};

const DefaultModel = Type.Object(defaultModel);

/** The state of the daemon, for its owner. */
export const DaemonStatus = Type.Object(
  {
    url: Type.String(),
    socket: nullable(
      Type.String({
        description: 'The path of the Unix socket the daemon also listens on; null without one.',
      }),
    ),
    pid: Type.Integer(),
    version: Type.String(),
    started_at: Timestamp,
    uptime_ms: Type.Integer({ minimum: 0 }),
    data_dir: Type.String(),
    workers: Type.Integer({ minimum: 1, description: 'How many threads serve model calls.' }),
    ...defaultModel,
    storage: Type.Object({
      writable: Type.Boolean(),
      reason: nullable(Type.String({ description: 'Why nothing can be written, for people.' })),
      engine: Type.Enum(['sqlite', 'postgresql']),
      server: nullable(
        Type.Object(
          {
            address: Type.String({ description: 'Without a password.' }),
            host: Type.String({ description: 'The server in use, of those that the address names.' }),
            version: Type.String(),
            schema_version: Type.Integer(),
            daemons: Type.Integer({ minimum: 1, description: 'How many daemons use the database now.' }),
            warnings: Type.Array(Type.String(), { description: 'Settings that risk data, for people.' }),
          },
          { description: 'The database server; null with SQLite.' },
        ),
      ),
    }),
    vault: Type.Object({
      state: VaultState,
      store: nullable(
        Type.String({ description: 'Where its master key is stored; null before one exists.' }),
      ),
      reason: nullable(Type.String({ description: 'Why it is not open and how to fix it, for people.' })),
    }),
    wallet: Type.Pick(WalletBackendStatus, ['backend', 'state', 'problems'], {
      description: 'The last known state of the Lightning back end.',
    }),
    spans: nullable(
      Type.Object(
        {
          collector: Type.String({ description: 'Its address, without a path.' }),
          protocol: Type.String(),
          delivered: Type.Integer({ minimum: 0, description: 'Spans since the start.' }),
          lost: Type.Integer({ minimum: 0, description: 'Spans that were not delivered.' }),
          problem: nullable(Type.String({ description: 'Why some were lost last, for people.' })),
        },
        { description: 'Spans for a collector of OpenTelemetry; null if none are sent.' },
      ),
    ),
    providers: Type.Array(ProviderStatus),
  },
  { $id: 'DaemonStatus' },
);

/** The state of the service, for its users. */
export const ServiceStatus = Type.Object(
  {
    version: Type.String(),
    writable: Type.Boolean({ description: 'Whether calls can be recorded, and so served.' }),
    ...defaultModel,
    providers: Type.Array(Type.Pick(ProviderStatus, ['name', 'state', 'models'])),
  },
  { $id: 'ServiceStatus' },
);

export const getServiceStatus = endpoint({
  id: 'getServiceStatus',
  method: 'GET',
  path: '/v1/status',
  summary: 'Get the status of the service.',
  description:
    'Whether calls are served, by which providers, and the default model. The daemon’s owner finds more in `GET /v1/admin/status`.',
  tag: 'Daemon',
  access: everyone,
  result: ServiceStatus,
});

export const getStatus = endpoint({
  id: 'getStatus',
  underLoad: 'kept',
  method: 'GET',
  path: '/v1/admin/status',
  summary: 'Get the daemon’s status.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  result: DaemonStatus,
});

export const checkCollector = endpoint({
  id: 'checkCollector',
  method: 'POST',
  path: '/v1/admin/collector/check',
  summary: 'Check that the collector takes spans.',
  description:
    'Sends an export without spans, in the configured protocol and with its headers, to the collector of OpenTelemetry. Answers after five seconds at most.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  result: Type.Object(
    {
      object: Type.Literal('collector.check'),
      collector: nullable(
        Type.String({ description: 'Its address, without a path; null if no spans are sent.' }),
      ),
      problem: nullable(
        Type.Enum(['key', 'path', 'protocol', 'unreachable', 'partial', 'failing'], {
          description:
            '`key`: it refuses the key; `path`: there is no collector at the path; `protocol`: it does not take the encoding, or is a port for gRPC; `partial`: it refuses some spans; null if it takes spans.',
        }),
      ),
      message: Type.String({ description: 'For people.' }),
      remedy: nullable(Type.String({ description: 'What to change, for people.' })),
    },
    { $id: 'CollectorCheck' },
  ),
});

/** Stops the daemon after calls in progress have finished. */
export const stopDaemon = endpoint({
  id: 'stopDaemon',
  underLoad: 'kept',
  method: 'POST',
  path: '/v1/admin/stop',
  summary: 'Stop the daemon.',
  description: 'New calls are rejected immediately; calls in progress have 25 seconds to finish.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  result: Type.Object({ stopping: Type.Literal(true), pid: Type.Integer() }),
});

/** Reports only that the process is running. */
export const health = endpoint({
  id: 'health',
  underLoad: 'kept',
  method: 'GET',
  path: '/healthz',
  summary: 'Check that the process is running.',
  tag: 'Daemon',
  access: everyoneUnlimited,
  result: Type.Object({ status: Type.Literal('ok') }),
});

/** Reports whether calls can be served: storage is open, current and writable. */
export const ready = endpoint({
  id: 'ready',
  underLoad: 'kept',
  method: 'GET',
  path: '/readyz',
  summary: 'Check that calls can be served.',
  description: 'Returns 503 `unavailable` unless storage is open and writable.',
  tag: 'Daemon',
  access: everyoneUnlimited,
  result: Type.Object({ status: Type.Literal('ready') }),
});

export const openApi = endpoint({
  id: 'openApi',
  method: 'GET',
  path: '/v1/openapi.json',
  summary: 'Get the API description.',
  description: 'The whole API as OpenAPI 3.1.0.',
  tag: 'Daemon',
  access: everyone,
  result: AnyObject,
});

export type DefaultModel = Static<typeof DefaultModel>;
export type ServiceStatus = Static<typeof ServiceStatus>;
export type DaemonStatus = Static<typeof DaemonStatus>;
export type ProviderStatus = Static<typeof ProviderStatus>;
