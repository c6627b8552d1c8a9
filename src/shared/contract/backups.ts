import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Timestamp } from './vocabulary.ts';

/** A backup that was made. */
export const Backup = Type.Object(
  {
    file: Type.String({ description: 'Where it lies on the daemon’s machine.' }),
    bytes: Type.Integer({ minimum: 0 }),
    made_at: Timestamp,
    schema_version: Type.Integer({ minimum: 0, description: 'What a program must know to restore it.' }),
    sha256: Type.String({ description: 'Of everything in it, in hex.' }),
    master_keys: Type.Array(Type.Object({ key_id: Type.String(), kept_in: Type.String() }), {
      description: 'What opens the sealed provider keys in it; it is not in the backup.',
    }),
  },
  { $id: 'Backup' },
);

/** How far a backup is, and how it ended. */
export const BackupEvent = Type.Union(
  [
    Type.Object({
      type: Type.Literal('backup.progress'),
      done_bytes: Type.Integer({
        minimum: 0,
        description: 'As many as `total_bytes` while the copy is read again.',
      }),
      total_bytes: Type.Integer({ minimum: 0 }),
    }),
    Type.Object({ type: Type.Literal('backup.completed'), backup: Backup }),
    Type.Object({
      type: Type.Literal('backup.failed'),
      message: Type.String({ description: 'Why, for people.' }),
    }),
  ],
  { $id: 'BackupEvent' },
);

/** Copies everything while calls go on. */
export const createBackup = endpoint({
  id: 'createBackup',
  method: 'POST',
  path: '/v1/admin/backups',
  summary: 'Back up the daemon’s data.',
  description:
    'Copies one state of the data into a file in the folder `backups` of the data folder, reads it again to see that it is whole, and tells how far it is. Calls go on. A client that leaves ends it.',
  tag: 'Daemon',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  result: BackupEvent,
  stream: { event: BackupEvent, done: false, always: true },
  errors: ['unauthenticated', 'signed_out', 'permission', 'conflict'],
});

export type Backup = Static<typeof Backup>;
export type BackupEvent = Static<typeof BackupEvent>;
