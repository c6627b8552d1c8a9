import { type BackupEvent, createBackup } from '../../../shared/contract/backups.ts';
import { ApiError } from '../../../shared/errors.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { implement, StreamReply } from '../../base/handler.ts';
import type { BackupFile, BackupProgress, BackupRecord, BackupStore } from './backup-store.ts';

interface BackupDependencies {
  store: BackupStore;
  /** Files and facts that a backup includes besides the database. */
  files: () => Promise<BackupFile[]>;
  version: string;
  now: () => number;
}

/** One at a time: a second one would only slow down both. */
export const backupHandlers = ({ store, files, version, now }: BackupDependencies) => {
  let isRunning = false;
  return [
    implement(createBackup, async ({ body, signal }) => {
      if (isRunning) throw new ApiError('conflict', { message: 'A backup is already in progress.' });
      isRunning = true;
      const at = now();
      const make = async (onProgress: (progress: BackupProgress) => void) => {
        try {
          return await store.make(
            { at, files: await files(), version, withContent: body?.with_content ?? false },
            { onProgress, signal },
          );
        } finally {
          isRunning = false;
        }
      };
      return new StreamReply({}, eventsOf(make, at));
    }),
  ];
};

type Make = (onProgress: (progress: BackupProgress) => void) => Promise<BackupRecord>;

/** Starts immediately; a slow reader gets the latest progress rather than every step. */
function eventsOf(make: Make, at: number): AsyncGenerator<string, void, undefined> {
  let progress: BackupProgress | undefined;
  let end: BackupEvent | undefined;
  let news = Promise.withResolvers<void>();
  const tell = (event: BackupEvent) => {
    end = event;
    news.resolve();
  };
  make((latest) => {
    progress = latest;
    news.resolve();
  }).then(
    (made) => tell(completed(made, at)),
    (error: unknown) => tell({ type: 'backup.failed', message: sentenceOf(error) }),
  );
  return (async function* () {
    for (;;) {
      await news.promise;
      news = Promise.withResolvers<void>();
      if (progress && !end) {
        const { doneBytes: done_bytes, totalBytes: total_bytes } = progress;
        yield frame({ type: 'backup.progress', done_bytes, total_bytes });
      }
      if (end) return yield frame(end);
    }
  })();
}

function completed(
  { file, bytes, schemaVersion, digest, contentBytes, masters }: BackupRecord,
  at: number,
): BackupEvent {
  const master_keys = masters.map(({ keyId: key_id, store: kept_in }) => ({ key_id, kept_in }));
  return {
    type: 'backup.completed',
    backup: {
      file,
      bytes,
      schema_version: schemaVersion,
      sha256: digest,
      made_at: isoTime(at),
      content_bytes: contentBytes,
      master_keys,
    },
  };
}

function sentenceOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return messageOf(cause instanceof Error ? cause : error);
}

function frame(event: BackupEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
