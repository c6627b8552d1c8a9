/** A small file that a database is of no use without, or that is wanted beside it. */
export interface BackupFile {
  /** Its name in the data folder. */
  name: string;
  content: Uint8Array;
}

export interface BackupOrder {
  /** Milliseconds since 1970. */
  at: number;
  files: readonly BackupFile[];
  /** The program's version. */
  version: string;
}

export interface BackupProgress {
  doneBytes: number;
  totalBytes: number;
}

/** A backup that was made, and read again to see that it is whole. */
export interface BackupRecord {
  /** The whole path. */
  file: string;
  bytes: number;
  schemaVersion: number;
  /** SHA-256 of everything in it, in hex. */
  digest: string;
  /** What opens the sealed secrets in it, which is not in it. */
  masters: readonly { keyId: string; store: string }[];
}

export interface BackupStore {
  /** Copies one state of everything into a new file of the data folder's `backups`; nothing is left of one that fails. */
  make(
    order: BackupOrder,
    options: { onProgress: (progress: BackupProgress) => void; signal: AbortSignal },
  ): Promise<BackupRecord>;
}
