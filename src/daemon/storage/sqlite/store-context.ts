import type { Connection } from './engine/connection.ts';
import type { NameTexts } from './engine/names.ts';
import type { Orm } from './engine/orm.ts';
import type { Reader } from './engine/reader.ts';
import type { Writer } from './engine/writer.ts';
import type { LongReads } from './long-reads.ts';
import type { WriteCommands } from './write-commands.ts';

/** The dependencies of a store. */
export interface StoreContext {
  /** Reads in the main thread: point look-ups and short pages. */
  database: Connection;
  orm: Orm;
  names: NameTexts;
  /** Writes, by the names in `write-commands.ts`. */
  writer: Writer<WriteCommands>;
  /** Reads that may look at many rows, by the names in `long-reads.ts`. */
  reader: Reader<LongReads>;
  /** Reads of the whole database, for which no other read should wait. */
  checker: Reader<LongReads>;
}
