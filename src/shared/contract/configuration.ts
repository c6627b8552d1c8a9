import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './vocabulary.ts';

/** One setting of the daemon, and who says so. Keys are told by the name of their variable alone. */
export const SettingView = Type.Object(
  {
    name: Type.String({ description: '`listen.port`' }),
    value: Type.Unknown({ description: 'What holds now.' }),
    source: Type.Enum(['flag', 'environment', 'file', 'default']),
    place: nullable(
      Type.String({ description: '`--port`, `GATEWAY_PORT`, or a line and column of the file.' }),
    ),
    waits_for_restart: Type.Boolean({
      description: 'The file says something else by now, which a restart takes in.',
    }),
  },
  { $id: 'Setting' },
);

export const ConfigurationView = Type.Object(
  { file: Type.String(), settings: Type.Array(SettingView) },
  { $id: 'Configuration' },
);

/** What a reload changed. */
export const ReloadReport = Type.Object(
  {
    file: Type.String(),
    changed: Type.Array(Type.String(), { description: 'Settings that have a new value now.' }),
    waiting: Type.Array(Type.String(), { description: 'Settings whose new value a restart takes in.' }),
  },
  { $id: 'ReloadReport' },
);

const hostOnly = { login: 'owner', loginOnly: true } as const;
const hostErrors = ['unauthenticated', 'signed_out', 'permission'] as const;

/** Every setting that the daemon runs with. */
export const getConfiguration = endpoint({
  id: 'getConfiguration',
  method: 'GET',
  path: '/v1/admin/configuration',
  summary: 'Get the daemon’s settings.',
  description: 'Each with where it comes from: a flag, the environment, a line of the file, or the default.',
  tag: 'Daemon',
  access: hostOnly,
  surface: 'v1',
  result: ConfigurationView,
  errors: hostErrors,
});

/** Reads the configuration file anew. */
export const reloadConfiguration = endpoint({
  id: 'reloadConfiguration',
  method: 'POST',
  path: '/v1/admin/reload',
  summary: 'Read the configuration file anew.',
  description:
    'What can change while calls run takes effect for the calls that come then; the rest waits for a restart and is named. A file with faults is not used: the answer names all of them, and everything stays.',
  tag: 'Daemon',
  access: hostOnly,
  surface: 'v1',
  result: ReloadReport,
  errors: [...hostErrors, 'invalid_request'],
});

export type SettingView = Static<typeof SettingView>;
export type ConfigurationView = Static<typeof ConfigurationView>;
export type ReloadReport = Static<typeof ReloadReport>;
