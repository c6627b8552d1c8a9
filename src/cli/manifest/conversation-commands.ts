import * as endpoints from '../../shared/endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Conversations with models, and messages between people. */
export const conversationCommands: Record<string, CommandEntry | NounEntry> = {
  threads: {
    summary: 'Manage conversations that respond --thread continues.',
    alone: 'list',
    verbs: {
      list: {
        summary: "List the workspace's threads.",
        endpoint: endpoints.listThreads,
        lists: {
          completes: ['thread'],
          suggest: rowsOf(endpoints.listThreads, { query: { limit: 50 } }, ({ id, title }) => ({
            value: id,
            meaning: title ?? undefined,
          })),
        },
        load: async () => (await import('../commands/threads.ts')).listThreadsCommand,
      },
      show: {
        summary: "Show a thread's messages.",
        endpoint: endpoints.listThreadMessages,
        load: async () => (await import('../commands/threads.ts')).showThreadCommand,
      },
      create: {
        summary: 'Create a thread.',
        endpoint: endpoints.createThread,
        load: async () => (await import('../commands/threads.ts')).createThreadCommand,
      },
      rename: {
        summary: 'Rename a thread.',
        endpoint: endpoints.updateThread,
        load: async () => (await import('../commands/threads.ts')).renameThreadCommand,
      },
      delete: {
        summary: 'Delete a thread and its messages.',
        endpoint: endpoints.deleteThread,
        load: async () => (await import('../commands/threads.ts')).deleteThreadCommand,
      },
      stop: {
        summary: 'Stop the call running in a thread; output generated so far is charged.',
        endpoint: endpoints.stopThread,
        load: async () => (await import('../commands/threads.ts')).stopThreadCommand,
      },
      watch: {
        summary: "Follow a thread's events.",
        endpoint: endpoints.followThread,
        options: ['after'],
        load: async () => (await import('../commands/threads.ts')).watchThreadCommand,
      },
    },
  },
  chats: {
    summary: 'View threads as chat clients see them.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List the chats.',
        endpoint: endpoints.listChats,
        lists: {
          completes: ['chat'],
          suggest: rowsOf(endpoints.listChats, { query: { limit: 50 } }, ({ id, title }) => ({
            value: id,
            meaning: title ?? undefined,
          })),
        },
        load: async () => (await import('../commands/chats.ts')).listChatsCommand,
      },
      runs: {
        summary: 'List the model calls made in a chat.',
        endpoint: endpoints.listRuns,
        load: async () => (await import('../commands/chats.ts')).listRunsCommand,
      },
    },
  },
  whispers: {
    summary: 'Send and read private messages.',
    alone: 'list',
    verbs: {
      send: {
        summary: 'Send a private message.',
        endpoint: endpoints.sendWhisper,
        load: async () => (await import('../commands/whispers.ts')).sendWhisperCommand,
      },
      list: {
        summary: 'List your whispers, or the people you whisper with.',
        endpoint: [endpoints.listWhispers, endpoints.listWhisperThreads],
        options: ['with'],
        lists: {
          completes: ['person'],
          suggest: rowsOf(endpoints.listWhisperThreads, {}, ({ peer }) => ({
            value: peer.handle,
            meaning: peer.name,
          })),
        },
        load: async () => (await import('../commands/whispers.ts')).listWhispersCommand,
      },
      thread: {
        summary: 'Show your whispers with one person, oldest first.',
        load: async () => (await import('../commands/whispers.ts')).whisperThreadCommand,
      },
      read: {
        summary: 'Mark whispers as read.',
        endpoint: [endpoints.readWhisper, endpoints.readAllWhispers],
        options: ['with'],
        load: async () => (await import('../commands/whispers.ts')).readWhisperCommand,
      },
      watch: {
        summary: 'Follow your whispers as they arrive.',
        endpoint: endpoints.streamWhispers,
        load: async () => (await import('../commands/whispers.ts')).watchWhispersCommand,
      },
    },
  },
  shouts: {
    summary: 'Post and read public messages.',
    alone: 'list',
    verbs: {
      post: {
        summary: 'Post a public message.',
        endpoint: endpoints.postShout,
        load: async () => (await import('../commands/shouts.ts')).postShoutCommand,
      },
      list: {
        summary: 'List shouts.',
        endpoint: endpoints.listShouts,
        options: ['zone', 'since'],
        load: async () => (await import('../commands/shouts.ts')).listShoutsCommand,
      },
      delete: {
        summary: 'Delete one of your shouts.',
        endpoint: endpoints.deleteShout,
        load: async () => (await import('../commands/shouts.ts')).deleteShoutCommand,
      },
      watch: {
        summary: 'Follow shouts as they arrive.',
        endpoint: endpoints.streamShouts,
        options: ['zone'],
        load: async () => (await import('../commands/shouts.ts')).watchShoutsCommand,
      },
    },
  },
  zones: {
    summary: 'List the most active zones.',
    endpoint: endpoints.listZones,
    lists: {
      completes: ['zone'],
      suggest: rowsOf(endpoints.listZones, {}, ({ zone, count24h }) => ({
        value: zone,
        meaning: `${count24h} in 24 hours`,
      })),
    },
    load: async () => (await import('../commands/shouts.ts')).zonesCommand,
  },
  autopilots: {
    summary: 'Manage and run your autopilots.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an autopilot.',
        endpoint: endpoints.createAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).createAutopilotCommand,
      },
      list: {
        summary: 'List your autopilots.',
        endpoint: endpoints.listAutopilots,
        options: ['status'],
        lists: {
          completes: ['autopilot'],
          suggest: rowsOf(endpoints.listAutopilots, {}, ({ handle, displayName }) => ({
            value: handle,
            meaning: displayName,
          })),
        },
        load: async () => (await import('../commands/autopilots.ts')).listAutopilotsCommand,
      },
      directory: {
        summary: 'List the autopilots that others show.',
        endpoint: endpoints.listDirectory,
        load: async () => (await import('../commands/autopilots.ts')).listDirectoryCommand,
      },
      show: {
        summary: 'Show an autopilot with its profile and policy.',
        endpoint: endpoints.getAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).showAutopilotCommand,
      },
      update: {
        summary: 'Change an autopilot.',
        endpoint: endpoints.updateAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).updateAutopilotCommand,
      },
      archive: {
        summary: 'Archive an autopilot.',
        endpoint: endpoints.archiveAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).archiveAutopilotCommand,
      },
      run: {
        summary: 'Run an autopilot and print its answer.',
        endpoint: endpoints.runAutopilot,
        load: async () => (await import('../commands/autopilot-runs.ts')).runAutopilotCommand,
      },
      runs: {
        summary: 'List the runs of an autopilot.',
        endpoint: endpoints.listAutopilotRuns,
        load: async () => (await import('../commands/autopilot-runs.ts')).listAutopilotRunsCommand,
      },
      cancel: {
        summary: 'Cancel a run of an autopilot.',
        endpoint: endpoints.cancelAutopilotRun,
        load: async () => (await import('../commands/autopilot-runs.ts')).cancelAutopilotRunCommand,
      },
    },
  },
};
