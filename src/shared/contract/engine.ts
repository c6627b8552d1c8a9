import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { deleted, nullable, StrictObject, Timestamp } from './vocabulary.ts';

/** The embedded engine: model files that the host runs itself. */

const Role = Type.Enum(['engine', 'engine-flash'], {
  description: 'The decision model that it answers as.',
});

const view = {
  object: Type.Literal('engine_model'),
  name: Type.String({ description: 'Unique on this host.' }),
  model: Type.String({
    description: 'Its id for responses, chat completions, messages and decisions: `local/NAME`.',
  }),
  as: nullable(Role),
  path: Type.String({ description: 'Its file on the host.' }),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ description: 'Of the file, in hex.' }),
  architecture: Type.String({ description: '`llama`, `qwen3`.' }),
  pid: nullable(Type.Integer({ description: 'Its process; null while it is not in memory.' })),
  available: Type.Boolean({ description: 'Whether the library that runs it is installed.' }),
  reason: nullable(Type.String({ description: 'Why it is not available, and what to do.' })),
  added_at: Timestamp,
};

export const EngineModelView = Type.Object(view, { $id: 'EngineModel' });
export type EngineModelView = Static<typeof EngineModelView>;

const ms = (description: string) => nullable(Type.Integer({ minimum: 0, description }));

export const EngineModelCheck = Type.Object(
  {
    ...view,
    problem: nullable(Type.String({ description: 'What is wrong and how to fix it; null if it works.' })),
    load_ms: ms('How long it took to load, in milliseconds; 0 or little if it was in memory.'),
    decision_ms: ms('How long a decision with one question took, in milliseconds.'),
  },
  { $id: 'EngineModelCheck' },
);
export type EngineModelCheck = Static<typeof EngineModelCheck>;

const ofOwner = {
  tag: 'Engine',
  access: { login: 'owner', loginOnly: true },
} as const;

const letters = 'Small letters, digits, `.`, `_` and `-`.';
const nameOf = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$', description });

export const listEngineModels = endpoint({
  ...ofOwner,
  id: 'listEngineModels',
  method: 'GET',
  path: '/v1/admin/engine/models',
  summary: 'List the models of the embedded engine.',
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(EngineModelView) }),
});

export const addEngineModel = endpoint({
  ...ofOwner,
  id: 'addEngineModel',
  method: 'POST',
  path: '/v1/admin/engine/models',
  summary: 'Add a model to the embedded engine.',
  description:
    'Loads a GGUF file of the host and asks it a question; it is added if it answers. The file is used where it is, not copied.',
  body: StrictObject({
    path: Type.String({
      minLength: 1,
      maxLength: 4096,
      pattern: '^(/|[A-Za-z]:[\\\\/]|\\\\\\\\)',
      description: 'The absolute path of the file.',
    }),
    name: Type.Optional(nameOf(`${letters} By default from the file’s name.`)),
    as: Type.Optional(
      Type.Enum(['engine', 'engine-flash'], {
        description:
          'The decision model that it answers as, instead of another one. By default `engine`, if there is none yet.',
      }),
    ),
  }),
  result: EngineModelView,
  errors: ['conflict'],
});

export const checkEngineModel = endpoint({
  ...ofOwner,
  id: 'checkEngineModel',
  method: 'POST',
  path: '/v1/admin/engine/models/{name}/check',
  summary: 'Check a model of the embedded engine.',
  description: 'Loads it, asks it a question, and compares the file with the one that was added.',
  params: Type.Object({ name: nameOf(letters) }),
  result: EngineModelCheck,
});

export const removeEngineModel = endpoint({
  ...ofOwner,
  id: 'removeEngineModel',
  method: 'DELETE',
  path: '/v1/admin/engine/models/{name}',
  summary: 'Remove a model from the embedded engine.',
  description: 'Its running requests fail. The file stays.',
  params: Type.Object({ name: nameOf(letters) }),
  result: deleted('engine_model'),
});
