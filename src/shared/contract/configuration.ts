import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { mapOf, nullable, StrictObject } from './vocabulary.ts';

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
    kind: Type.Enum(['text', 'number', 'flag', 'choice', 'list', 'map'], {
      description: 'The kind of its value.',
    }),
    choices: Type.Array(Type.String(), { description: 'The values of a choice.' }),
    description: Type.String({ description: 'What its value may be: `a number of days from 1 to 3650`.' }),
    is_changeable: Type.Boolean({
      description:
        'Whether it can be changed here: at run time, and without harm that lasts longer than a login.',
    }),
  },
  { $id: 'Setting' },
);

export const ConfigurationView = Type.Object(
  {
    file: Type.String(),
    settings: Type.Array(SettingView),
    sealed_keys: Type.Array(Type.String(), {
      description:
        'Providers and upstreams with a key of the host in the vault, which counts before the variable.',
    }),
  },
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

/** A change of the configuration file. */
const ConfigChange = StrictObject({
  setting: Type.String({
    minLength: 1,
    maxLength: 300,
    description: '`cache.default`, `aliases.fast`, `upstreams.acme` or `upstreams.acme.models`.',
  }),
  value: Type.Unknown({ description: 'The new value; null removes the setting.' }),
});

const changesMax = 50;

const changeMembers = {
  changes: Type.Array(ConfigChange, { maxItems: changesMax }),
  keys: Type.Optional(
    mapOf(
      { minLength: 1, maxLength: 64 },
      nullable(Type.String({ pattern: '^[!-~]{1,512}$', description: 'Visible ASCII characters.' })),
      {
        maxProperties: changesMax,
        description:
          'Keys of the host by the names of their providers and upstreams, to seal in the vault; null deletes one.',
      },
    ),
  ),
};

const LineChange = Type.Object({
  change: Type.Enum(['same', 'added', 'removed']),
  text: Type.String(),
  words: Type.Optional(
    Type.Array(Type.Object({ change: Type.Enum(['same', 'added', 'removed']), text: Type.String() })),
  ),
});

/** What a change of the configuration would do. */
export const ConfigurationPreview = Type.Object(
  {
    object: Type.Literal('configuration_preview'),
    file: Type.String(),
    version: Type.String({
      description: 'Names the file as it is and as it would be. A change is made only with its version.',
    }),
    diff: Type.Array(
      Type.Object({
        before_line: Type.Integer(),
        after_line: Type.Integer(),
        lines: Type.Array(LineChange),
      }),
      { description: 'The lines that would change, with some around them; secrets are removed.' },
    ),
    keys: Type.Array(Type.String(), { description: 'Whose keys would be sealed or deleted.' }),
    linked_to: nullable(Type.String({ description: 'Where the file is, if its path is a link.' })),
    refusal: nullable(Type.String({ description: 'Why the file cannot be written; null if it can.' })),
    notes: Type.Array(Type.String(), {
      description:
        'What else to know: settings that a flag overrides, other daemons with files of their own.',
    }),
    warnings: Type.Array(ConfigWarning, {
      description:
        'Models and providers that the change names and the catalog does not know, with the nearest names. They do not keep it from being made.',
    }),
  },
  { $id: 'ConfigurationPreview' },
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

export const previewConfiguration = endpoint({
  id: 'previewConfiguration',
  method: 'POST',
  path: '/v1/admin/configuration/preview',
  summary: 'Preview a change of the configuration.',
  description:
    'Shows the lines of the file that would change, and writes nothing. A setting that cannot be changed here, or a value that it cannot have, is an error. A key that would be sent to another address than before has to be given again in `keys`.',
  tag: 'Daemon',
  access: hostOnly,
  body: StrictObject(changeMembers),
  result: ConfigurationPreview,
  errors: ['conflict'],
});

export const changeConfiguration = endpoint({
  id: 'changeConfiguration',
  method: 'PATCH',
  path: '/v1/admin/configuration',
  summary: 'Change the configuration.',
  description:
    'Writes exactly what was previewed, keeps the comments of the file, and reloads it. If the file has changed since the preview, or cannot be written, nothing is changed: 409 `conflict`. Other daemons of the database have files of their own.',
  tag: 'Daemon',
  access: hostOnly,
  body: StrictObject({
    ...changeMembers,
    version: Type.String({ minLength: 1, maxLength: 100, description: 'Of the preview.' }),
  }),
  result: ReloadReport,
  errors: ['conflict'],
});

export type ConfigChange = Static<typeof ConfigChange>;
export type ConfigurationPreview = Static<typeof ConfigurationPreview>;
export type SettingView = Static<typeof SettingView>;
export type ConfigurationView = Static<typeof ConfigurationView>;
export type ConfigWarning = Static<typeof ConfigWarning>;
export type ReloadReport = Static<typeof ReloadReport>;
