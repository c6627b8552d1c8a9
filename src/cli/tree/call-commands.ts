import type { Noun, Verb } from './verb.ts';

/** Model calls, and what is known of them. */
export const callCommands: Record<string, Verb | Noun> = {
  respond: {
    summary: 'Ask a model.',
    load: async () => (await import('../commands/respond/respond.ts')).respondCommand,
  },
  chat: {
    summary: 'Talk with a model.',
    load: async () => (await import('../commands/tui.ts')).chatCommand,
  },
  compact: {
    summary: 'Make a conversation short, with a sealed summary.',
    load: async () => (await import('../commands/compact.ts')).compactCommand,
  },
  responses: {
    summary: 'Stored responses.',
    verbs: {
      get: {
        summary: 'Show a stored response.',
        load: async () => (await import('../commands/responses/responses.ts')).getResponseCommand,
      },
      list: {
        summary: 'List the stored responses, and those that are being made.',
        load: async () => (await import('../commands/responses/responses.ts')).listResponsesCommand,
      },
      watch: {
        summary: 'Follow a background response to its end.',
        load: async () => (await import('../commands/responses/watch.ts')).watchResponseCommand,
      },
      cancel: {
        summary: 'End a background response; what was made is charged.',
        load: async () => (await import('../commands/responses/responses.ts')).cancelResponseCommand,
      },
      delete: {
        summary: 'Delete a stored response.',
        load: async () => (await import('../commands/responses/responses.ts')).deleteResponseCommand,
      },
    },
  },
  models: {
    summary: 'What can be asked, and for how much.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List the models with their prices.',
        load: async () => (await import('../commands/models.ts')).listModelsCommand,
      },
      show: {
        summary: 'Show one model and its providers.',
        load: async () => (await import('../commands/models.ts')).showModelCommand,
      },
      refresh: {
        summary: 'Ask the providers which models they have.',
        load: async () => (await import('../commands/models.ts')).refreshModelsCommand,
      },
    },
  },
  rates: {
    summary: 'Show the rate card: provider price, margin and their sum.',
    load: async () => (await import('../commands/rates.ts')).ratesCommand,
  },
  usage: {
    summary: 'Show what one request took, or sums by day, model or key.',
    load: async () => (await import('../commands/usage.ts')).usageCommand,
  },
  traces: {
    summary: 'Show what finished requests went through, or one of them in detail.',
    load: async () => (await import('../commands/traces/traces.ts')).tracesCommand,
  },
  tail: {
    summary: 'Follow the requests as they happen.',
    load: async () => (await import('../commands/tail/tail.ts')).tailCommand,
  },
  cache: {
    summary: 'Answers that are given again to the same request.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show how many are kept.',
        load: async () => (await import('../commands/cache.ts')).showCacheCommand,
      },
      clear: {
        summary: 'Drop all of a workspace’s.',
        load: async () => (await import('../commands/cache.ts')).clearCacheCommand,
      },
    },
  },
};
