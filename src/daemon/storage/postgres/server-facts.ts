import { withoutPassword } from '../../../shared/storage/database-url.ts';
import { DatabaseUnusable } from '../sqlite/engine/errors.ts';
import type { ServerFacts } from '../storage.ts';
import type { Query } from './migrate.ts';

/** Describes the server, as it was at the start. Rejects with `DatabaseUnusable` if nothing can be written to it. */
export async function readServerFacts(
  query: Query,
  url: string,
): Promise<Omit<ServerFacts, 'host' | 'schemaVersion'>> {
  const [row = {}] = await query(
    `SELECT current_setting('server_version') AS version,
      current_setting('default_transaction_read_only') = 'on' AS is_read_only,
      current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit`,
  );
  const address = withoutPassword(url);
  if (row.is_read_only) {
    throw new DatabaseUnusable(
      `${address} accepts no writes: default_transaction_read_only is on. Turn it off for this user and database.`,
    );
  }
  return { address, version: String(row.version), warnings: warningsOf(row) };
}

/** What makes the server lose committed data. Sessions that write set `synchronous_commit` themselves. */
function warningsOf(row: Record<string, unknown>): string[] {
  const warnings = [];
  if (row.fsync === 'off') warnings.push('fsync is off: a crash of its machine can destroy the database');
  if (row.full_page_writes === 'off')
    warnings.push('full_page_writes is off: a crash of its machine can damage pages');
  if (row.synchronous_commit === 'off')
    warnings.push('synchronous_commit is off: other programs that write to this server can lose commits');
  return warnings;
}
