import type { Noun, Verb } from './verb.ts';

/** What keeps a daemon alive and in order. */
export const serviceLifeCommands: Record<string, Verb | Noun> = {
  backup: {
    summary: 'Copy the daemon’s data into one file, while it runs.',
    load: async () => (await import('./commands/backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Put a backup in the place of the data, while the daemon is stopped.',
    load: async () => (await import('./commands/restore.ts')).restoreCommand,
  },
};
