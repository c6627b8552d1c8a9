import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from './context.ts';

/** Makes one command. Its module is loaded only when it runs or its help is asked for. */
type Load = () => Promise<(context: Context) => CommandUnknownOpts>;

export interface Verb {
  summary: string;
  load: Load;
  /** Whether it takes no `--host`, `--json` and the like. */
  isPlain?: true;
}

export interface Noun {
  summary: string;
  verbs: Record<string, Verb>;
  /** The verb that is meant when the noun stands alone; without one, a noun alone asks for its help. */
  alone?: string;
}

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
  respond: {
    summary: 'Ask a model.',
    load: async () => (await import('./commands/respond.ts')).respondCommand,
  },
  responses: {
    summary: 'Stored responses.',
    verbs: {
      get: {
        summary: 'Show a stored response.',
        load: async () => (await import('./commands/responses/get.ts')).getResponseCommand,
      },
      delete: {
        summary: 'Delete a stored response.',
        load: async () => (await import('./commands/responses/delete.ts')).deleteResponseCommand,
      },
    },
  },
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
  tail: {
    summary: 'Follow the requests as they happen.',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  keys: {
    summary: 'API keys.',
    verbs: {
      issue: {
        summary: 'Issue an API key.',
        load: async () => (await import('./commands/keys/issue.ts')).issueKeyCommand,
      },
      list: {
        summary: 'List the keys of a workspace, without secrets.',
        load: async () => (await import('./commands/keys/list.ts')).listKeysCommand,
      },
      revoke: {
        summary: 'Revoke a key; it takes effect now.',
        load: async () => (await import('./commands/keys/revoke.ts')).revokeKeyCommand,
      },
      default: {
        summary: 'Print the key that the first start issued.',
        load: async () => (await import('./commands/keys/default.ts')).defaultKeyCommand,
      },
    },
  },
  key: {
    summary: 'Show the calling key: what it may do and what it spent.',
    load: async () => (await import('./commands/key.ts')).keyCommand,
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
  openapi: {
    summary: 'Print the description of the API.',
    load: async () => (await import('./commands/openapi.ts')).openApiCommand,
  },
};

export function isNoun(entry: Verb | Noun): entry is Noun {
  return 'verbs' in entry;
}
