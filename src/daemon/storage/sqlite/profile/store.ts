import type { PersonRecord, ProfileStore } from '../../../features/profile/profile-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Writer } from '../engine/writer.ts';

/** Columns of a person, as rows that name people select them. */
export function personColumns(table: string, prefix = ''): string {
  const column = (name: string, as: string) => `${table}.${name} AS "${prefix}${as}"`;
  return [
    column('number', 'number'),
    column('handle', 'handle'),
    column('name', 'name'),
    column('avatar', 'avatar'),
  ].join(', ');
}

/** People: point look-ups in the main thread, writes in the writer's. */
export function profileStore(database: Connection, writer: Writer): ProfileStore {
  const select = `SELECT id AS userId, ${personColumns('users')}, email, created_at AS createdAt,
    coalesce(updated_at, created_at) AS updatedAt FROM users WHERE deleted_at IS NULL AND`;
  const byUserId = database.prepare<[string], PersonRecord>(`${select} id = ?`);
  const byNumber = database.prepare<[number], PersonRecord>(`${select} number = ?`);
  const byHandle = database.prepare<[string], PersonRecord>(`${select} handle = ?`);
  return {
    byUserId: async (userId) => byUserId.get(userId),
    byNumber: async (number) => byNumber.get(number),
    byHandle: async (handle) => byHandle.get(handle),
    change: (userId, changes, at) => writer.write('profile.change', { userId, changes, at }),
    remove: (userId, at) => writer.write('profile.remove', { userId, at }),
  };
}
