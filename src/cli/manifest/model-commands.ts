import * as endpoints from '../../shared/endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Calling models, and inspecting those calls. */
export const modelCommands: Record<string, CommandEntry | NounEntry> = {
  respond: {
    summary: 'Ask a model a question.',
    endpoint: endpoints.createResponse,
    models: 'chat',
    load: async () => (await import('../commands/respond/respond.ts')).respondCommand,
  },
  chat: {
    summary: 'Chat with a model.',
    models: 'chat',
    load: async () => (await import('../tui/commands.ts')).chatCommand,
  },
  compact: {
    summary: 'Shorten a conversation to a sealed summary.',
    endpoint: endpoints.compactResponse,
    models: 'chat',
    load: async () => (await import('../commands/compact.ts')).compactCommand,
  },
  embed: {
    summary: 'Turn texts into vectors.',
    endpoint: endpoints.createEmbedding,
    models: 'embedding',
    load: async () => (await import('../commands/embed.ts')).embedCommand,
  },
  decide: {
    summary: 'Ask typed questions, and get probabilities.',
    alone: 'ask',
    shorthands: [{ verb: 'ask', argument: /^/ }],
    verbs: {
      ask: {
        summary: 'Ask a question about an input, or about each line of it.',
        endpoint: endpoints.createDecision,
        load: async () => (await import('../commands/decide/decide.ts')).decideCommand,
      },
      eval: {
        summary: 'Measure the accuracy and calibration of a model on labelled examples.',
        load: async () => (await import('../commands/decide/eval.ts')).evalCommand,
      },
      fit: {
        summary: 'Calibrate a model on labelled examples.',
        endpoint: endpoints.putCalibration,
        load: async () => (await import('../commands/decide/fit.ts')).fitCommand,
      },
      fits: {
        summary: 'List calibrated models.',
        endpoint: endpoints.listCalibrations,
        load: async () => (await import('../commands/decide/fit.ts')).listFitsCommand,
      },
      'remove-fit': {
        summary: 'Remove the calibration of a model.',
        endpoint: endpoints.deleteCalibration,
        load: async () => (await import('../commands/decide/fit.ts')).removeFitCommand,
      },
    },
  },
  peer: {
    summary: 'Manage peers: other servers that answer decisions.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Add or change a peer.',
        endpoint: endpoints.putPeer,
        load: async () => (await import('../commands/peers.ts')).addPeerCommand,
      },
      list: {
        summary: 'List peers with their state.',
        endpoint: endpoints.listPeers,
        load: async () => (await import('../commands/peers.ts')).listPeersCommand,
      },
      check: {
        summary: 'Ask a peer one question, and time it.',
        endpoint: endpoints.checkPeer,
        load: async () => (await import('../commands/peers.ts')).checkPeerCommand,
      },
      watch: {
        summary: 'Follow the state of peers until Ctrl-C.',
        load: async () => (await import('../commands/peers.ts')).watchPeersCommand,
      },
      remove: {
        summary: 'Remove a peer and its key.',
        endpoint: endpoints.deletePeer,
        load: async () => (await import('../commands/peers.ts')).removePeerCommand,
      },
      attempts: {
        summary: 'List calls to peers, newest first.',
        endpoint: endpoints.listPeerAttempts,
        load: async () => (await import('../commands/peers.ts')).listPeerAttemptsCommand,
      },
    },
  },
  responses: {
    summary: 'Manage stored responses.',
    alone: 'list',
    verbs: {
      get: {
        summary: 'Show a stored response.',
        endpoint: endpoints.getResponse,
        load: async () => (await import('../commands/responses/responses.ts')).getResponseCommand,
      },
      list: {
        summary: 'List stored responses, including those in progress.',
        endpoint: endpoints.listResponses,
        lists: {
          completes: ['response'],
          suggest: rowsOf(endpoints.listResponses, { query: { limit: 50 } }, ({ id, model, status }) => ({
            value: id,
            meaning: `${model}, ${status}`,
          })),
          alsoListsPaths: ['/v1/responses'],
        },
        load: async () => (await import('../commands/responses/responses.ts')).listResponsesCommand,
      },
      watch: {
        summary: 'Follow a background response until it finishes.',
        load: async () => (await import('../commands/responses/watch.ts')).watchResponseCommand,
      },
      cancel: {
        summary: 'Cancel a background response; output generated so far is charged.',
        endpoint: endpoints.cancelResponse,
        load: async () => (await import('../commands/responses/responses.ts')).cancelResponseCommand,
      },
      delete: {
        summary: 'Delete a stored response.',
        endpoint: endpoints.deleteResponse,
        load: async () => (await import('../commands/responses/responses.ts')).deleteResponseCommand,
      },
    },
  },
  models: {
    summary: 'List models, prices and providers.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List models and their prices.',
        endpoint: endpoints.listModels,
        lists: {
          completes: ['model', 'pattern'],
          suggest: rowsOf(endpoints.listModels, {}, ({ id, service }) => ({
            value: id,
            kind: service.capabilities.kind,
          })),
        },
        load: async () => (await import('../commands/models.ts')).listModelsCommand,
      },
      show: {
        summary: 'Show a model and its providers.',
        endpoint: endpoints.getModel,
        load: async () => (await import('../commands/models.ts')).showModelCommand,
      },
      refresh: {
        summary: 'Update the model lists of all providers.',
        endpoint: endpoints.refreshModels,
        load: async () => (await import('../commands/models.ts')).refreshModelsCommand,
      },
    },
  },
  rates: {
    summary: 'Show the rate card: provider price plus margin.',
    endpoint: endpoints.listRates,
    load: async () => (await import('../commands/rates.ts')).ratesCommand,
  },
  usage: {
    summary: 'Show what calls used and cost.',
    alone: 'show',
    shorthands: [{ verb: 'show', argument: /^req_/ }],
    verbs: {
      show: {
        summary: 'Show usage by day, model, key and more, or the usage of one call.',
        endpoint: [endpoints.listUsage, endpoints.getUsage],
        options: ['group_by', 'key', 'model', 'since', 'until', 'tz'],
        load: async () => (await import('../commands/usage.ts')).usageCommand,
      },
      series: {
        summary: 'Show usage over time, in quarters of an hour to months.',
        endpoint: endpoints.getUsageSeries,
        options: ['group_by', 'bucket', 'top', 'key', 'model', 'since', 'until', 'tz'],
        load: async () => (await import('../commands/usage.ts')).usageSeriesCommand,
      },
      latency: {
        summary: 'Show how long calls take: percentiles of the first token and in all.',
        endpoint: endpoints.getUsageLatency,
        options: ['group_by', 'model', 'provider', 'since', 'until'],
        load: async () => (await import('../commands/usage.ts')).usageLatencyCommand,
      },
      'tokens-served': {
        summary: 'Show the tokens that the host has served to everyone, by day.',
        endpoint: endpoints.tokensServed,
        load: async () => (await import('../commands/usage.ts')).tokensServedCommand,
      },
    },
  },
  calls: {
    summary: 'Show what finished calls did, and what they asked and answered.',
    aliases: ['traces'],
    alone: 'list',
    shorthands: [
      { verb: 'show', argument: /^req_/ },
      // A query: status:failed, >4s.
      { verb: 'list', argument: /^(\w+:|[<>])/ },
    ],
    verbs: {
      list: {
        summary: 'List finished calls.',
        endpoint: endpoints.listTraces,
        options: ['status', 'model', 'provider', 'key', 'since', 'until', 'limit'],
        lists: {
          completes: ['call'],
          suggest: rowsOf(
            endpoints.listTraces,
            { query: { limit: 50 } },
            ({ request_id, model, status }) => ({
              value: request_id,
              meaning: `${model}, ${status}`,
            }),
          ),
          alsoListsPaths: ['/v1/usage'],
        },
        load: async () => (await import('../commands/traces/traces.ts')).listTracesCommand,
      },
      count: {
        summary: 'Count finished calls by status, error, model, provider, key or client.',
        endpoint: endpoints.getTraceFacets,
        options: ['since', 'until'],
        load: async () => (await import('../commands/traces/count.ts')).countTracesCommand,
      },
      show: {
        summary: 'Show a finished call in detail, or its prompt and answer.',
        endpoint: endpoints.getTrace,
        load: async () => (await import('../commands/traces/traces.ts')).showTraceCommand,
      },
      search: {
        summary: 'Find a text in what calls asked and were answered.',
        endpoint: endpoints.searchTraceContent,
        options: ['key', 'since', 'until', 'limit'],
        load: async () => (await import('../commands/traces/search.ts')).searchTracesCommand,
      },
      export: {
        summary: 'Write calls as JSON lines, CSV, HAR or OTLP, with their content if wanted.',
        endpoint: endpoints.exportTraces,
        options: ['format', 'content', 'key', 'since', 'until', 'after'],
        load: async () => (await import('../commands/traces/export.ts')).exportTracesCommand,
      },
      diff: {
        summary: 'Show what changed between two calls, and where the prompt cache broke.',
        load: async () => (await import('../commands/traces/diff.ts')).diffTracesCommand,
      },
      replay: {
        summary: 'Repeat a call, changed or with other models, and compare the answers.',
        load: async () => (await import('../commands/traces/replay.ts')).replayTraceCommand,
      },
      cancel: {
        summary: 'End a running call.',
        endpoint: endpoints.cancelCall,
        load: async () => (await import('../commands/traces/cancel.ts')).cancelTraceCommand,
      },
    },
  },
  providers: {
    summary: 'Show how providers answer, and try one again.',
    alone: 'health',
    verbs: {
      health: {
        summary: 'Show attempts, failures, times to the first byte and benches by provider and model.',
        endpoint: endpoints.getProvidersHealth,
        options: ['since'],
        load: async () => (await import('../commands/provider-health.ts')).providerHealthCommand,
      },
      show: {
        summary: 'Show a provider: address, key variable, benches and what its models refused.',
        endpoint: endpoints.getProvider,
        load: async () => (await import('../commands/providers.ts')).showProviderCommand,
      },
      retry: {
        summary: 'End the benches of a provider, such as after adding credit there.',
        endpoint: endpoints.retryProvider,
        load: async () => (await import('../commands/providers.ts')).retryProviderCommand,
      },
    },
  },
  capture: {
    summary: 'Show, set and delete the content of calls that the daemon keeps.',
    alone: 'status',
    verbs: {
      status: {
        summary: 'Show how much content is kept, and where.',
        endpoint: endpoints.getCapture,
        load: async () => (await import('../commands/capture.ts')).captureStatusCommand,
      },
      set: {
        summary: 'Set what is kept of the calls of a workspace or key.',
        load: async () => (await import('../commands/capture.ts')).setCaptureCommand,
      },
      wire: {
        summary: 'Keep streams as they are for a while.',
        endpoint: endpoints.captureWire,
        load: async () => (await import('../commands/capture.ts')).captureWireCommand,
      },
      clear: {
        summary: 'Delete the content of calls; all else about them stays.',
        endpoint: endpoints.clearTraceContent,
        load: async () => (await import('../commands/capture.ts')).clearCaptureCommand,
      },
    },
  },
  tail: {
    summary: 'Follow calls as they happen.',
    endpoint: endpoints.streamEvents,
    options: ['after', 'key'],
    load: async () => (await import('../commands/tail/tail.ts')).tailCommand,
  },
  cache: {
    summary: 'Inspect and clear the response cache.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show the number and size of cached responses.',
        endpoint: endpoints.getCache,
        load: async () => (await import('../commands/cache.ts')).showCacheCommand,
      },
      clear: {
        summary: "Clear a workspace's cached responses.",
        endpoint: endpoints.clearCache,
        load: async () => (await import('../commands/cache.ts')).clearCacheCommand,
      },
    },
  },
};
