export type {
  BackupFile,
  BackupOrder,
  BackupProgress,
  BackupRecord,
  BackupStore,
} from './backup-store.ts';
export { backupHandlers } from './handlers.ts';
