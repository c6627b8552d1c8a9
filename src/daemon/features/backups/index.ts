export type { BackupFile } from './backup-store.ts';
export { backupHandlers } from './handlers.ts';
