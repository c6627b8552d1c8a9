import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Timestamp } from './vocabulary.ts';

/** A finished backup. */
export const Backup = Type.Object(
  {
    file: Type.String({ description: 'Its path on the daemon’s machine.' }),
    bytes: Type.Integer({ minimum: 0 }),
    made_at: Timestamp,
    schema_version: Type.Integer({ minimum: 0, description: 'The schema version needed to restore it.' }),
    sha256: Type.String({ description: 'SHA-256 of the whole file, in hex.' }),
    content_bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'The size of the content of calls in it; null if it is left out.',
    }),
    master_keys: Type.Array(Type.Object({ key_id: Type.String(), kept_in: Type.String() }), {
      description: 'What opens the sealed provider keys in it; not part of the backup.',
    }),
  },
  { $id: 'Backup' },
);

/** Progress and result of a backup. */
export const BackupEvent = Type.Union(
  [
    Type.Object({
      type: Type.Literal('backup.progress'),
      done_bytes: Type.Integer({
        minimum: 0,
        description: 'Equals `total_bytes` while the copy is verified.',
      }),
      total_bytes: Type.Integer({ minimum: 0 }),
    }),
    Type.Object({ type: Type.Literal('backup.completed'), backup: Backup }),
    Type.Object({
      type: Type.Literal('backup.failed'),
      message: Type.String({ description: 'The reason, for people.' }),
    }),
  ],
  { $id: 'BackupEvent' },
);

export const createBackup = endpoint({
  id: 'createBackup',
  method: 'POST',
  path: '/v1/admin/backups',
  summary: 'Back up the daemon’s data.',
  description:
    'Copies a consistent snapshot of the data into the folder `backups` of the data folder, verifies it, and reports progress. Calls continue. Disconnecting cancels it.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  body: Type.Object(
    {
      with_content: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether it includes the content of calls that is kept on disk.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  bodyRequired: false,
  result: BackupEvent,
  stream: { event: BackupEvent, done: false, always: true },
  errors: ['conflict'],
});

export type Backup = Static<typeof Backup>;
export type BackupEvent = Static<typeof BackupEvent>;
