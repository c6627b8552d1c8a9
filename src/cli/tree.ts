import { keyCommands, moneyCommands } from './key-commands.ts';
import { serviceLifeCommands } from './life-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { siteCommands } from './site-commands.ts';
import { threadCommands } from './thread-commands.ts';
import type { Noun, Verb } from './verb.ts';

/** Every command, in the order of the help. */
export const tree: Record<string, Verb | Noun> = {
  serve: {
    summary: 'Run the daemon in this terminal.',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
    isPlain: true,
  },
  status: {
    summary: 'Show how the daemon is doing.',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  stop: {
    summary: 'Stop the daemon once running calls are done.',
    load: async () => (await import('./commands/stop.ts')).stopCommand,
  },
  doctor: {
    summary: 'Look for what keeps Gateway from working, with the remedy.',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  ...serviceLifeCommands,
  respond: {
    summary: 'Ask a model.',
    load: async () => (await import('./commands/respond.ts')).respondCommand,
  },
  chat: {
    summary: 'Talk with a model.',
    load: async () => (await import('./commands/chat.ts')).chatCommand,
  },
  compact: {
    summary: 'Make a conversation short, with a sealed summary.',
    load: async () => (await import('./commands/compact.ts')).compactCommand,
  },
  responses: {
    summary: 'Stored responses.',
    verbs: {
      get: {
        summary: 'Show a stored response.',
        load: async () => (await import('./commands/responses/get.ts')).getResponseCommand,
      },
      list: {
        summary: 'List the stored responses, and those that are being made.',
        load: async () => (await import('./commands/responses/list.ts')).listResponsesCommand,
      },
      watch: {
        summary: 'Follow a background response to its end.',
        load: async () => (await import('./commands/responses/watch.ts')).watchResponseCommand,
      },
      cancel: {
        summary: 'End a background response; what was made is charged.',
        load: async () => (await import('./commands/responses/cancel.ts')).cancelResponseCommand,
      },
      delete: {
        summary: 'Delete a stored response.',
        load: async () => (await import('./commands/responses/delete.ts')).deleteResponseCommand,
      },
    },
  },
  ...threadCommands,
  models: {
    summary: 'What can be asked, and for how much.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List the models with their prices.',
        load: async () => (await import('./commands/models/list.ts')).listModelsCommand,
      },
      show: {
        summary: 'Show one model and its providers.',
        load: async () => (await import('./commands/models/show.ts')).showModelCommand,
      },
      refresh: {
        summary: 'Ask the providers which models they have.',
        load: async () => (await import('./commands/models/refresh.ts')).refreshModelsCommand,
      },
    },
  },
  rates: {
    summary: 'Show the rate card: provider price, margin and their sum.',
    load: async () => (await import('./commands/rates.ts')).ratesCommand,
  },
  usage: {
    summary: 'Show what one request took, or sums by day, model or key.',
    load: async () => (await import('./commands/usage.ts')).usageCommand,
  },
  traces: {
    summary: 'Show what finished requests went through, or one of them in detail.',
    load: async () => (await import('./commands/traces.ts')).tracesCommand,
  },
  tail: {
    summary: 'Follow the requests as they happen.',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  ...keyCommands,
  cache: {
    summary: 'Answers that are given again to the same request.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show how many are kept.',
        load: async () => (await import('./commands/cache/show.ts')).showCacheCommand,
      },
      clear: {
        summary: 'Drop all of a workspace’s.',
        load: async () => (await import('./commands/cache/clear.ts')).clearCacheCommand,
      },
    },
  },
  'provider-keys': {
    summary: 'A workspace’s own keys for providers.',
    verbs: {
      set: {
        summary: 'Store a key, or put another in its place.',
        load: async () => (await import('./commands/provider-keys/set.ts')).setProviderKeyCommand,
      },
      list: {
        summary: 'List the keys by provider and fingerprint.',
        load: async () => (await import('./commands/provider-keys/list.ts')).listProviderKeysCommand,
      },
      delete: {
        summary: 'Delete a key.',
        load: async () => (await import('./commands/provider-keys/delete.ts')).deleteProviderKeyCommand,
      },
      check: {
        summary: 'Ask the provider whether it takes the key.',
        load: async () => (await import('./commands/provider-keys/check.ts')).checkProviderKeyCommand,
      },
    },
  },
  vault: {
    summary: 'What seals provider keys.',
    alone: 'status',
    verbs: {
      status: {
        summary: 'Show whether it is open, and where its master key is kept.',
        load: async () => (await import('./commands/vault/status.ts')).vaultStatusCommand,
      },
      unlock: {
        summary: 'Open it: by the keychain, a passphrase or an exported key.',
        load: async () => (await import('./commands/vault/unlock.ts')).unlockVaultCommand,
      },
      rotate: {
        summary: 'Put every secret under a new master key.',
        load: async () => (await import('./commands/vault/rotate.ts')).rotateVaultCommand,
      },
      export: {
        summary: 'Print the master key, to be kept on paper.',
        load: async () => (await import('./commands/vault/export.ts')).exportVaultCommand,
      },
    },
  },
  ...peopleCommands,
  ...siteCommands,
  ...moneyCommands,
  mcp: {
    summary: 'Serve MCP over standard input and output.',
    load: async () => (await import('./commands/mcp.ts')).mcpCommand,
  },
  tui: {
    summary: 'Watch and change all of this on one screen; the same as gateway alone.',
    load: async () => (await import('./commands/tui.ts')).tuiCommand,
  },
  openapi: {
    summary: 'Print the description of the API.',
    load: async () => (await import('./commands/openapi.ts')).openApiCommand,
  },
  completion: {
    summary: 'Print what makes a shell complete commands, flags and values.',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
    isPlain: true,
  },
};
