import * as endpoints from '../../shared/endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Running the daemon and keeping it in order. */
export const daemonCommands: Record<string, CommandEntry | NounEntry> = {
  serve: {
    summary: 'Run the daemon in this terminal.',
    load: async () => (await import('../commands/serve/serve.ts')).serveCommand,
    isPlain: true,
  },
  status: {
    summary: "Show the daemon's status.",
    endpoint: endpoints.getStatus,
    load: async () => (await import('../commands/status.ts')).statusCommand,
  },
  open: {
    summary: 'Open the dashboard in a browser, signed in.',
    endpoint: endpoints.createLoginLink,
    load: async () => (await import('../commands/open.ts')).openCommand,
  },
  stop: {
    summary: 'Stop the daemon after running calls finish.',
    endpoint: endpoints.stopDaemon,
    load: async () => (await import('../commands/stop.ts')).stopCommand,
  },
  doctor: {
    summary: 'Diagnose problems and suggest fixes.',
    load: async () => (await import('../commands/doctor/doctor.ts')).doctorCommand,
  },
  logs: {
    summary: "Show or follow the daemon's log.",
    load: async () => (await import('../commands/logs/logs.ts')).logsCommand,
  },
  backup: {
    summary: "Back up the daemon's data to a file while it runs.",
    endpoint: endpoints.createBackup,
    load: async () => (await import('../commands/backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Replace the data with a backup while the daemon is stopped.',
    load: async () => (await import('../commands/restore.ts')).restoreCommand,
  },
  storage: {
    summary: 'Move the data to another database.',
    verbs: {
      copy: {
        summary: 'Copy the database to a PostgreSQL server or to a data folder while no daemon uses it.',
        load: async () => (await import('../commands/storage.ts')).copyStorageCommand,
      },
    },
  },
  service: {
    summary: 'Run the daemon as a login service.',
    alone: 'status',
    verbs: {
      install: {
        summary: 'Install the daemon as a login service (systemd or launchd) and start it.',
        load: async () => (await import('../commands/service/service.ts')).installServiceCommand,
      },
      uninstall: {
        summary: 'Stop and remove the service, keeping all data.',
        load: async () => (await import('../commands/service/service.ts')).uninstallServiceCommand,
      },
      status: {
        summary: 'Show whether the service is running.',
        load: async () => (await import('../commands/service/service.ts')).serviceStatusCommand,
      },
    },
  },
  daemons: {
    summary: 'See the daemons that serve the same database.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List the daemons of the database.',
        endpoint: endpoints.listDaemons,
        lists: {
          completes: ['number'],
          suggest: rowsOf(endpoints.listDaemons, {}, ({ number, address, state }) => ({
            value: String(number),
            meaning: address ?? state,
          })),
        },
        load: async () => (await import('../commands/daemons.ts')).listDaemonsCommand,
      },
      remove: {
        summary: 'Finish the work of a daemon that has ended, and remove it.',
        endpoint: endpoints.removeDaemon,
        load: async () => (await import('../commands/daemons.ts')).removeDaemonCommand,
      },
    },
  },
  engine: {
    summary: 'Run models of this machine, for decisions and as local/NAME.',
    alone: 'list',
    verbs: {
      install: {
        summary: 'Install the library that runs models.',
        load: async () => (await import('../commands/engine.ts')).installEngineCommand,
      },
      add: {
        summary: 'Add a model file.',
        endpoint: endpoints.addEngineModel,
        load: async () => (await import('../commands/engine.ts')).addEngineCommand,
      },
      list: {
        summary: 'List local models.',
        endpoint: endpoints.listEngineModels,
        lists: {
          completes: ['local-model'],
          suggest: rowsOf(endpoints.listEngineModels, {}, ({ name, architecture }) => ({
            value: name,
            meaning: architecture,
          })),
        },
        load: async () => (await import('../commands/engine.ts')).listEngineCommand,
      },
      check: {
        summary: 'Load a local model and ask it a question.',
        endpoint: endpoints.checkEngineModel,
        load: async () => (await import('../commands/engine.ts')).checkEngineCommand,
      },
      remove: {
        summary: 'Remove a local model.',
        endpoint: endpoints.removeEngineModel,
        load: async () => (await import('../commands/engine.ts')).removeEngineCommand,
      },
    },
  },
  config: {
    summary: "View and edit the daemon's configuration.",
    alone: 'get',
    verbs: {
      get: {
        summary: 'Show each setting and where it comes from.',
        endpoint: endpoints.getConfiguration,
        lists: {
          completes: ['setting'],
          async suggest({ env, platform, home, daemon }) {
            const tools = await (await daemon()).loadConfigTools();
            const { settings } = await tools.explain({ env, platform, home });
            return settings.map(({ name }) => ({ value: name }));
          },
        },
        load: async () => (await import('../commands/config.ts')).getConfigCommand,
      },
      set: {
        summary: 'Write a setting to the configuration file, keeping its comments.',
        load: async () => (await import('../commands/config.ts')).setConfigCommand,
      },
      unset: {
        summary: 'Remove a setting from the configuration file.',
        load: async () => (await import('../commands/config.ts')).unsetConfigCommand,
      },
      path: {
        summary: 'Print the path of the configuration file.',
        load: async () => (await import('../commands/config.ts')).configPathCommand,
      },
      import: {
        summary: 'Translate the configuration of a LiteLLM proxy, and print it.',
        load: async () => (await import('../commands/config.ts')).importConfigCommand,
      },
      schema: {
        summary: 'Print the JSON Schema of the configuration file, for editors.',
        load: async () => (await import('../commands/config.ts')).configSchemaCommand,
      },
    },
  },
  upstreams: {
    summary: 'Manage other model servers, which the configuration lists.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Add an upstream to the configuration file, keeping its comments.',
        load: async () => (await import('../commands/upstreams.ts')).addUpstreamCommand,
      },
      list: {
        summary: 'List upstreams with their addresses and models.',
        lists: {
          completes: ['upstream'],
          async suggest(context) {
            const { upstreamNames } = await import('../commands/upstreams.ts');
            return (await upstreamNames(context)).map((value) => ({ value }));
          },
        },
        load: async () => (await import('../commands/upstreams.ts')).listUpstreamsCommand,
      },
      remove: {
        summary: 'Remove an upstream from the configuration file.',
        load: async () => (await import('../commands/upstreams.ts')).removeUpstreamCommand,
      },
    },
  },
  reload: {
    summary: 'Make the daemon reload its configuration.',
    endpoint: endpoints.reloadConfiguration,
    load: async () => (await import('../commands/reload.ts')).reloadCommand,
  },
};
