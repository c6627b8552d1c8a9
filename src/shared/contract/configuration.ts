import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './vocabulary.ts';

/** A setting of the daemon and its source. Keys appear only as the name of their variable. */
export const SettingView = Type.Object(
  {
    name: Type.String({ description: '`listen.port`' }),
    value: Type.Unknown({ description: 'The effective value.' }),
    source: Type.Enum(['flag', 'environment', 'file', 'default']),
    place: nullable(
      Type.String({ description: '`--port`, `GATEWAY_PORT`, or line and column in the file.' }),
    ),
    waits_for_restart: Type.Boolean({
      description: 'The file has a different value that takes effect after a restart.',
    }),
  },
  { $id: 'Setting' },
);

export const ConfigurationView = Type.Object(
  { file: Type.String(), settings: Type.Array(SettingView) },
  { $id: 'Configuration' },
);

/** A problem of a valid configuration: the daemon starts with it. */
export const ConfigWarning = Type.Object(
  {
    setting: Type.String({ description: '`aliases.fast`' }),
    model: Type.Optional(Type.String({ description: 'The name that the catalog does not have.' })),
    message: Type.String(),
  },
  { $id: 'ConfigWarning' },
);

/** The result of a reload. */
export const ReloadReport = Type.Object(
  {
    file: Type.String(),
    changed: Type.Array(Type.String(), { description: 'Settings that changed.' }),
    waiting: Type.Array(Type.String(), { description: 'Settings that take effect after a restart.' }),
    warnings: Type.Array(ConfigWarning, {
      description: 'Names of models that the catalog does not have, and settings that no longer exist.',
    }),
  },
  { $id: 'ReloadReport' },
);

const hostOnly = { login: 'owner', loginOnly: true } as const;

export const getConfiguration = endpoint({
  id: 'getConfiguration',
  method: 'GET',
  path: '/v1/admin/configuration',
  summary: 'Get the daemon’s configuration.',
  description: 'Each setting with its source: a flag, the environment, a line of the file, or the default.',
  tag: 'Daemon',
  access: hostOnly,
  result: ConfigurationView,
});

export const reloadConfiguration = endpoint({
  id: 'reloadConfiguration',
  method: 'POST',
  path: '/v1/admin/reload',
  summary: 'Reload the configuration file.',
  description:
    'Settings that can change at run time apply to subsequent calls; the others are listed and need a restart. An invalid file changes nothing, and the error lists all of its faults.',
  tag: 'Daemon',
  access: hostOnly,
  result: ReloadReport,
});

export type SettingView = Static<typeof SettingView>;
export type ConfigurationView = Static<typeof ConfigurationView>;
export type ConfigWarning = Static<typeof ConfigWarning>;
export type ReloadReport = Static<typeof ReloadReport>;
