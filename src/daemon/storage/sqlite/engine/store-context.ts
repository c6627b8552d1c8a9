import type { Connection } from './connection.ts';
import type { NameTexts } from './names.ts';
import type { Orm } from './orm.ts';
import type { Reader, Reads } from './reader.ts';
import type { Commands } from './write-batch.ts';
import type { Writer } from './writer.ts';

/** The dependencies of a store that writes with the commands `W`, and reads many rows with the reads `R`. */
export interface StoreContext<
  W extends Commands = Record<never, never>,
  R extends Reads = Record<never, never>,
> {
  /** Reads in the main thread: point look-ups and short pages. */
  database: Connection;
  /** The number of the daemon that has these stores. */
  daemon: number;
  orm: Orm;
  names: NameTexts;
  /** Runs write commands in the writer thread. */
  writer: Pick<Writer<W>, 'write' | 'replace'>;
  /** Runs reads of many rows in the reader thread. */
  reader: Pick<Reader<R>, 'run'>;
  /** Reads of the whole database, for which no other read should wait. */
  checker: Pick<Reader<R>, 'run'>;
}
