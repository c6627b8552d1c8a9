import type { ShoutsStore } from '../../features/shouts/shouts-store.ts';
import type { WhispersOf, WhispersStore } from '../../features/whispers/whispers-store.ts';
import type { Connection } from './engine/connection.ts';

/** What people write to each other and to all. */
export function talkCommands(database: Connection) {
  return {
    'whispers.insert': (whisper: Parameters<WhispersStore['insert']>[0]): number =>
      Number(
        database
          .prepare(
            `INSERT INTO whispers (sender, recipient, created_at, updated_at, body)
             VALUES (@sender, @recipient, @at, @at, @body)`,
          )
          .run(whisper).lastInsertRowid,
      ),
    'whispers.markRead': (read: { id: number; at: number }): boolean =>
      database
        .prepare('UPDATE whispers SET read_at = @at, updated_at = @at WHERE id = @id AND read_at IS NULL')
        .run(read).changes > 0,
    'whispers.markAllRead': ({ person, peer, at }: WhispersOf & { at: number }): number[] =>
      database
        .prepare<object, number>(
          `UPDATE whispers SET read_at = @at, updated_at = @at
           WHERE recipient = @person AND read_at IS NULL AND (@peer IS NULL OR sender = @peer) RETURNING id`,
        )
        .pluck()
        .all({ person, peer: peer ?? null, at })
        .toSorted((a, b) => a - b),
    'shouts.insert': (shout: Parameters<ShoutsStore['insert']>[0]): number =>
      Number(
        database
          .prepare(
            `INSERT INTO shouts (author, zone, created_at, updated_at, body)
             VALUES (@author, @zone, @at, @at, @body)`,
          )
          .run(shout).lastInsertRowid,
      ),
    'shouts.remove': (shout: { id: number; author: number }): boolean =>
      database.prepare('DELETE FROM shouts WHERE id = @id AND author = @author').run(shout).changes > 0,
  };
}
