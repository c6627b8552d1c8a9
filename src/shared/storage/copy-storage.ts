import type { ExitCode } from '../errors.ts';

/** From where to where a database is copied. */
export interface CopyStorageOptions {
  /**
   * A data folder, the address of a PostgreSQL database without a password, or a file with such an address; undefined for the
   * configured database.
   */
  from: string | undefined;
  to: string;
  env: Record<string, string | undefined>;
  onProgress: (progress: {
    step: 'copying' | 'comparing';
    table: string;
    doneRows: number;
    totalRows: number;
  }) => void;
}

/** The result of a copy, or why it did not complete. */
export type CopyStorageOutcome =
  | {
      /** Folders, or addresses without passwords. */
      from: string;
      to: string;
      schemaVersion: number;
      tables: number;
      rows: number;
      /** SHA-256 of all rows, in hex. */
      digest: string;
      /** Files that belong to the data and are not in the database, in the data folder; undefined if that is not known. */
      beside: string[] | undefined;
      /** Whether the target is a data folder that lacks the data key. */
      lacksDataKey: boolean;
    }
  | { problem: string; exit: ExitCode };
