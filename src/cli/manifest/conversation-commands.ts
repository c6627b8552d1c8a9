import {
  archiveAutopilot,
  cancelAutopilotRun,
  createAutopilot,
  createThread,
  deleteShout,
  deleteThread,
  followThread,
  getAutopilot,
  listAutopilotRuns,
  listAutopilots,
  listChats,
  listRuns,
  listShouts,
  listThreadMessages,
  listThreads,
  listWhispers,
  listWhisperThreads,
  listZones,
  postShout,
  readAllWhispers,
  readWhisper,
  runAutopilot,
  sendWhisper,
  stopThread,
  streamShouts,
  streamWhispers,
  updateAutopilot,
  updateThread,
} from './endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Conversations with models, and messages between people. */
export const conversationCommands: Record<string, CommandEntry | NounEntry> = {
  threads: {
    summary: 'Manage conversations that respond --thread continues.',
    verbs: {
      list: {
        summary: "List the workspace's threads.",
        endpoint: listThreads,
        lists: {
          completes: ['thread'],
          suggest: rowsOf(listThreads, { query: { limit: 50 } }, ({ id, title }) => ({
            value: id,
            meaning: title ?? undefined,
          })),
        },
        load: async () => (await import('../commands/threads.ts')).listThreadsCommand,
      },
      show: {
        summary: "Show a thread's messages.",
        endpoint: listThreadMessages,
        load: async () => (await import('../commands/threads.ts')).showThreadCommand,
      },
      create: {
        summary: 'Create a thread.',
        endpoint: createThread,
        load: async () => (await import('../commands/threads.ts')).createThreadCommand,
      },
      rename: {
        summary: 'Rename a thread.',
        endpoint: updateThread,
        load: async () => (await import('../commands/threads.ts')).renameThreadCommand,
      },
      delete: {
        summary: 'Delete a thread and its messages.',
        endpoint: deleteThread,
        load: async () => (await import('../commands/threads.ts')).deleteThreadCommand,
      },
      stop: {
        summary: 'Stop the call running in a thread; output generated so far is charged.',
        endpoint: stopThread,
        load: async () => (await import('../commands/threads.ts')).stopThreadCommand,
      },
      watch: {
        summary: "Follow a thread's events.",
        endpoint: followThread,
        options: ['after'],
        load: async () => (await import('../commands/threads.ts')).watchThreadCommand,
      },
    },
  },
  chats: {
    summary: 'View threads as chat clients see them.',
    verbs: {
      list: {
        summary: 'List the chats.',
        endpoint: listChats,
        lists: {
          completes: ['chat'],
          suggest: rowsOf(listChats, { query: { limit: 50 } }, ({ id, title }) => ({
            value: id,
            meaning: title ?? undefined,
          })),
        },
        load: async () => (await import('../commands/chats.ts')).listChatsCommand,
      },
      runs: {
        summary: 'List the model calls made in a chat.',
        endpoint: listRuns,
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
        endpoint: sendWhisper,
        load: async () => (await import('../commands/whispers.ts')).sendWhisperCommand,
      },
      list: {
        summary: 'List your whispers, or the people you whisper with.',
        endpoint: [listWhispers, listWhisperThreads],
        options: ['with'],
        lists: {
          completes: ['person'],
          suggest: rowsOf(listWhisperThreads, {}, ({ peer }) => ({ value: peer.handle, meaning: peer.name })),
        },
        load: async () => (await import('../commands/whispers.ts')).listWhispersCommand,
      },
      thread: {
        summary: 'Show your whispers with one person, oldest first.',
        load: async () => (await import('../commands/whispers.ts')).whisperThreadCommand,
      },
      read: {
        summary: 'Mark whispers as read.',
        endpoint: [readWhisper, readAllWhispers],
        options: ['with'],
        load: async () => (await import('../commands/whispers.ts')).readWhisperCommand,
      },
      watch: {
        summary: 'Follow your whispers as they arrive.',
        endpoint: streamWhispers,
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
        endpoint: postShout,
        load: async () => (await import('../commands/shouts.ts')).postShoutCommand,
      },
      list: {
        summary: 'List shouts.',
        endpoint: listShouts,
        options: ['zone', 'since'],
        load: async () => (await import('../commands/shouts.ts')).listShoutsCommand,
      },
      delete: {
        summary: 'Delete one of your shouts.',
        endpoint: deleteShout,
        load: async () => (await import('../commands/shouts.ts')).deleteShoutCommand,
      },
      watch: {
        summary: 'Follow shouts as they arrive.',
        endpoint: streamShouts,
        options: ['zone'],
        load: async () => (await import('../commands/shouts.ts')).watchShoutsCommand,
      },
    },
  },
  zones: {
    summary: 'List the most active zones.',
    endpoint: listZones,
    lists: {
      completes: ['zone'],
      suggest: rowsOf(listZones, {}, ({ zone, count24h }) => ({
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
        endpoint: createAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).createAutopilotCommand,
      },
      list: {
        summary: 'List your autopilots.',
        endpoint: listAutopilots,
        options: ['status'],
        lists: {
          completes: ['autopilot'],
          suggest: rowsOf(listAutopilots, {}, ({ handle, displayName }) => ({
            value: handle,
            meaning: displayName,
          })),
        },
        load: async () => (await import('../commands/autopilots.ts')).listAutopilotsCommand,
      },
      show: {
        summary: 'Show an autopilot with its profile and policy.',
        endpoint: getAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).showAutopilotCommand,
      },
      update: {
        summary: 'Change an autopilot.',
        endpoint: updateAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).updateAutopilotCommand,
      },
      archive: {
        summary: 'Archive an autopilot.',
        endpoint: archiveAutopilot,
        load: async () => (await import('../commands/autopilots.ts')).archiveAutopilotCommand,
      },
      run: {
        summary: 'Run an autopilot and print its answer.',
        endpoint: runAutopilot,
        load: async () => (await import('../commands/autopilot-runs.ts')).runAutopilotCommand,
      },
      runs: {
        summary: 'List the runs of an autopilot.',
        endpoint: listAutopilotRuns,
        load: async () => (await import('../commands/autopilot-runs.ts')).listAutopilotRunsCommand,
      },
      cancel: {
        summary: 'Cancel a run of an autopilot.',
        endpoint: cancelAutopilotRun,
        load: async () => (await import('../commands/autopilot-runs.ts')).cancelAutopilotRunCommand,
      },
    },
  },
};
