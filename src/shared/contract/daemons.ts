import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { deleted, nullable, Timestamp } from './vocabulary.ts';

/** A daemon that serves the database, or whose work is not finished yet. */
export const Daemon = Type.Object(
  {
    number: Type.Integer({ minimum: 0, description: 'Each start of a daemon has a higher one.' }),
    name: nullable(Type.String({ description: 'The name of its machine.' })),
    address: nullable(Type.String({ description: 'Where it listens; null before it does.' })),
    version: nullable(Type.String()),
    state: Type.Enum(['running', 'ended'], {
      description:
        '`ended`: it has stopped, or has not renewed its term in time. Another daemon finishes its work.',
    }),
    started_at: Timestamp,
    renewed_at: nullable(Timestamp),
    taken_over_by: nullable(
      Type.Integer({ description: 'The number of the daemon that finishes its work.' }),
    ),
    runs_shared_jobs: Type.Boolean({
      description: 'Whether it does what one daemon does for all, such as deleting old events.',
    }),
  },
  {
    $id: 'Daemon',
    description:
      '`renewed_at`: when it last renewed its term, by the clock of the database server; null with SQLite, and once it has stopped.',
  },
);

const access = { login: 'owner', loginOnly: true } as const;

export const listDaemons = endpoint({
  id: 'listDaemons',
  method: 'GET',
  path: '/v1/admin/daemons',
  summary: 'List the daemons of the database.',
  description:
    'Several with PostgreSQL, one with SQLite. Those that have ended are listed until their work is finished.',
  tag: 'Daemon',
  access,
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(Daemon) }),
});

export const removeDaemon = endpoint({
  id: 'removeDaemon',
  method: 'DELETE',
  path: '/v1/admin/daemons/{daemon}',
  summary: 'Remove a daemon that has ended.',
  description:
    'Finishes its work now: settles its calls and ends its runs. Running daemons do this by themselves within seconds. Fails with `conflict` for a daemon that runs.',
  tag: 'Daemon',
  access,
  params: Type.Object({ daemon: Type.String({ pattern: '^[0-9]{1,15}$', description: 'Its number.' }) }),
  result: deleted('daemon'),
  errors: ['conflict'],
});

export type Daemon = Static<typeof Daemon>;
