import { createHash } from 'node:crypto';
import { type CopiedTable, copiedTables } from './copied-tables.ts';
import { type CopySide, type CopyTarget, metaTable, type Take } from './copy-side.ts';

export interface CopyProgress {
  step: 'copying' | 'comparing';
  table: string;
  doneRows: number;
  totalRows: number;
}

interface CopyOptions {
  source: CopySide;
  target: CopyTarget;
  onProgress: (progress: CopyProgress) => void;
}

/** Tables whose rows tell one database, and one state of it, from others. */
const identifying = [metaTable, 'daemons', 'workspaces'];
const progressRows = 20_000;

/** The copy differs from its source, or its ledger does not balance. It stays unfinished. */
export class CopyDamaged extends Error {
  constructor(problems: readonly string[]) {
    super(`The copy is damaged: ${problems.join(' ')}`);
    this.name = 'CopyDamaged';
  }
}

/**
 * Copies all tables, then compares the digest of each with that of its source and verifies the ledger. A copy that was interrupted
 * goes on with the first table that is incomplete. Rejects with `CopyDamaged`, or as the databases do; the target cannot be used then.
 */
export async function copyDatabase({ source, target, onProgress }: CopyOptions) {
  const all = copiedTables();
  const tables = [
    ...all.filter(({ name }) => name !== metaTable),
    ...all.filter(({ name }) => name === metaTable),
  ];
  const counts = await source.counts(tables);
  const totalRows = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const digests = await target.begin(await markOf(source, tables));

  const progress = (step: CopyProgress['step']) => {
    let complete = 0;
    return {
      report: (table: CopiedTable, rows: number) =>
        onProgress({ step, table: table.name, doneRows: complete + rows, totalRows }),
      completed: (table: CopiedTable) => {
        complete += counts.get(table.name) ?? 0;
      },
    };
  };
  const copying = progress('copying');
  for (const table of tables) {
    const report = (rows: number) => copying.report(table, rows);
    if (!digests.has(table.name)) {
      await target.fill(table, counts.get(table.name) ?? 0, async (write) => {
        const digest = await digestOf(source, table, report, write);
        digests.set(table.name, digest);
        return digest;
      });
    }
    copying.completed(table);
  }
  const comparing = progress('comparing');
  const problems: string[] = [];
  for (const table of tables) {
    const digest = await digestOf(target, table, (rows) => comparing.report(table, rows));
    if (digest !== digests.get(table.name)) problems.push(`The table ${table.name} differs from its source.`);
    comparing.completed(table);
  }
  problems.push(...(await target.problems()));
  if (problems.length > 0) throw new CopyDamaged(problems);
  await target.finish(await source.numbers());
  onProgress({ step: 'comparing', table: metaTable, doneRows: totalRows, totalRows });
  return { tables: tables.length, rows: totalRows, digest: joined([...digests].sort()) };
}

/** Identifies the source in its present state. */
async function markOf(source: CopySide, tables: readonly CopiedTable[]): Promise<string> {
  const parts: string[] = [];
  for (const table of tables)
    if (identifying.includes(table.name)) parts.push(await digestOf(source, table, () => {}));
  return joined(parts);
}

function joined(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** SHA-256 of all rows, in hex, which also go to `write`. */
async function digestOf(
  side: CopySide,
  table: CopiedTable,
  report: (rows: number) => void,
  write?: Take,
): Promise<string> {
  const hash = createHash('sha256');
  let rows = 0;
  let reported = 0;
  await side.read(table, (lines) => {
    hash.update(lines);
    for (let at = lines.indexOf(10); at >= 0; at = lines.indexOf(10, at + 1)) rows += 1;
    if (rows - reported >= progressRows) {
      reported = rows;
      report(rows);
    }
    return write?.(lines);
  });
  report(rows);
  return hash.digest('hex');
}
