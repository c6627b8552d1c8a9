import type { Log } from '../../base/log.ts';
import type { CheckFindings } from './check-database.ts';
import type { StoreContext } from './engine/store-context.ts';
import type { Writer } from './engine/writer.ts';
import type { LongReads } from './long-reads.ts';
import type { WriteCommands } from './write-commands.ts';

interface CheckDeps {
  checker: StoreContext<Record<never, never>, LongReads>['checker'];
  writer: Writer<WriteCommands>;
  now: () => number;
  log: Log;
}

/** Checks parts of the database one after the other, and refuses writes from then on if it finds problems. */
export async function runCheck(
  parts: readonly string[],
  { checker, writer, now, log }: CheckDeps,
): Promise<{ ok: boolean; problems: string[] }> {
  const found: CheckFindings[] = [];
  for (const part of parts) found.push(await checker.run('checkPart', part));
  const problems = [...new Set(found.flatMap((part) => part.problems))];
  const link = found.find(({ chainVerified }) => chainVerified !== undefined)?.chainVerified ?? 0;
  if (problems.length > 0) {
    log.error({ problems }, 'the database failed its check');
    writer.refuseWrites('the database failed its check');
  } else {
    // If this write fails, the next check verifies the same links again.
    await writer.write('engine.checked', { link, at: now() }).catch(() => {});
  }
  return { ok: problems.length === 0, problems };
}
