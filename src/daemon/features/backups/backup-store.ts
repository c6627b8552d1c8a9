/** A file that belongs to a database, such as a key that it needs. */
export interface BackupFile {
  /** Its name in the data folder. */
  name: string;
  content: Uint8Array;
}

export interface BackupOrder {
  /** Milliseconds since 1970. */
  at: number;
  files: readonly BackupFile[];
  /** Whether the content of calls that is kept on disk is part of it. */
  withContent: boolean;
  /** The program's version. */
  version: string;
}

export interface BackupProgress {
  doneBytes: number;
  totalBytes: number;
}

/** A backup that was created and verified. */
export interface BackupRecord {
  /** The absolute path. */
  file: string;
  bytes: number;
  schemaVersion: number;
  /** SHA-256 of the whole file, in hex. */
  digest: string;
  /** The size of the content of calls in it; null if it was left out. */
  contentBytes: number | null;
  /** The key that decrypts the secrets in it; not part of the backup. */
  masters: readonly { keyId: string; store: string }[];
}

export interface BackupStore {
  /** Copies a consistent snapshot into a new file of the data folder's `backups`; a failed backup leaves no file. */
  make(
    order: BackupOrder,
    options: { onProgress: (progress: BackupProgress) => void; signal: AbortSignal },
  ): Promise<BackupRecord>;
}
