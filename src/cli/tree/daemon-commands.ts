import type { Noun, Verb } from './verb.ts';

/** What runs the daemon and keeps it in order. */
export const daemonCommands: Record<string, Verb | Noun> = {
  serve: {
    summary: 'Run the daemon in this terminal.',
    load: async () => (await import('../commands/serve.ts')).serveCommand,
    isPlain: true,
  },
  status: {
    summary: 'Show how the daemon is doing.',
    load: async () => (await import('../commands/status.ts')).statusCommand,
  },
  stop: {
    summary: 'Stop the daemon once running calls are done.',
    load: async () => (await import('../commands/stop.ts')).stopCommand,
  },
  doctor: {
    summary: 'Look for what keeps Gateway from working, with the remedy.',
    load: async () => (await import('../commands/doctor/doctor.ts')).doctorCommand,
  },
  logs: {
    summary: 'Show what the daemon logged, and follow it.',
    load: async () => (await import('../commands/logs/logs.ts')).logsCommand,
  },
  backup: {
    summary: 'Copy the daemon’s data into one file, while it runs.',
    load: async () => (await import('../commands/backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Put a backup in the place of the data, while the daemon is stopped.',
    load: async () => (await import('../commands/restore.ts')).restoreCommand,
  },
  service: {
    summary: 'Have the daemon run by itself, from your login on.',
    alone: 'status',
    verbs: {
      install: {
        summary: 'Make it a service of systemd or launchd, and start it.',
        load: async () => (await import('../commands/service/service.ts')).installServiceCommand,
      },
      uninstall: {
        summary: 'Stop the service and take it away; data stays.',
        load: async () => (await import('../commands/service/service.ts')).uninstallServiceCommand,
      },
      status: {
        summary: 'Show whether the service runs.',
        load: async () => (await import('../commands/service/service.ts')).serviceStatusCommand,
      },
    },
  },
  config: {
    summary: 'What the daemon is configured to.',
    alone: 'get',
    verbs: {
      get: {
        summary: 'Show each setting, and where it comes from.',
        load: async () => (await import('../commands/config.ts')).getConfigCommand,
      },
      set: {
        summary: 'Write a setting into the file; comments stay.',
        load: async () => (await import('../commands/config.ts')).setConfigCommand,
      },
      unset: {
        summary: 'Take a setting out of the file.',
        load: async () => (await import('../commands/config.ts')).unsetConfigCommand,
      },
      path: {
        summary: 'Print where the file is.',
        load: async () => (await import('../commands/config.ts')).configPathCommand,
      },
      schema: {
        summary: 'Print the JSON Schema of the file, for editors.',
        load: async () => (await import('../commands/config.ts')).configSchemaCommand,
      },
    },
  },
  reload: {
    summary: 'Have the daemon read its configuration anew.',
    load: async () => (await import('../commands/reload.ts')).reloadCommand,
  },
};
