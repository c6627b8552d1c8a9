import type { Noun, Verb } from './verb.ts';

/** What is said, to models and to people. */
export const talkCommands: Record<string, Verb | Noun> = {
  threads: {
    summary: 'Conversations that are kept, and continued by respond --thread.',
    verbs: {
      list: {
        summary: 'List the threads of the workspace.',
        load: async () => (await import('../commands/threads.ts')).listThreadsCommand,
      },
      show: {
        summary: 'Show what was said in a thread.',
        load: async () => (await import('../commands/threads.ts')).showThreadCommand,
      },
      create: {
        summary: 'Create a thread.',
        load: async () => (await import('../commands/threads.ts')).createThreadCommand,
      },
      rename: {
        summary: 'Give a thread another title.',
        load: async () => (await import('../commands/threads.ts')).renameThreadCommand,
      },
      delete: {
        summary: 'Delete a thread with all that was said in it.',
        load: async () => (await import('../commands/threads.ts')).deleteThreadCommand,
      },
      stop: {
        summary: 'End the call that runs in a thread; what was made is charged.',
        load: async () => (await import('../commands/threads.ts')).stopThreadCommand,
      },
      watch: {
        summary: 'Follow what happens in a thread.',
        load: async () => (await import('../commands/threads.ts')).watchThreadCommand,
      },
    },
  },
  chats: {
    summary: 'Threads as chat clients see them.',
    verbs: {
      list: {
        summary: 'List the chats.',
        load: async () => (await import('../commands/chats.ts')).listChatsCommand,
      },
      runs: {
        summary: 'List the model calls that were made in a chat.',
        load: async () => (await import('../commands/chats.ts')).listRunsCommand,
      },
    },
  },
  whispers: {
    summary: 'Messages to and from one person.',
    alone: 'list',
    verbs: {
      send: {
        summary: 'Whisper to somebody.',
        load: async () => (await import('../commands/whispers.ts')).sendWhisperCommand,
      },
      list: {
        summary: 'List your whispers, or whom you whisper with.',
        load: async () => (await import('../commands/whispers.ts')).listWhispersCommand,
      },
      thread: {
        summary: 'Show what was said with one person, from the top.',
        load: async () => (await import('../commands/whispers.ts')).whisperThreadCommand,
      },
      read: {
        summary: 'Mark whispers as read.',
        load: async () => (await import('../commands/whispers.ts')).readWhisperCommand,
      },
      watch: {
        summary: 'Follow your whispers as they come.',
        load: async () => (await import('../commands/whispers.ts')).watchWhispersCommand,
      },
    },
  },
  shouts: {
    summary: 'Messages that everybody can read.',
    alone: 'list',
    verbs: {
      post: {
        summary: 'Shout.',
        load: async () => (await import('../commands/shouts.ts')).postShoutCommand,
      },
      list: {
        summary: 'List shouts.',
        load: async () => (await import('../commands/shouts.ts')).listShoutsCommand,
      },
      delete: {
        summary: 'Delete one of your shouts.',
        load: async () => (await import('../commands/shouts.ts')).deleteShoutCommand,
      },
      watch: {
        summary: 'Follow shouts as they come.',
        load: async () => (await import('../commands/shouts.ts')).watchShoutsCommand,
      },
    },
  },
  zones: {
    summary: 'Show where people shout.',
    load: async () => (await import('../commands/shouts.ts')).zonesCommand,
  },
  autopilots: {
    summary: 'What acts for you, and how.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an autopilot.',
        load: async () => (await import('../commands/autopilots.ts')).createAutopilotCommand,
      },
      list: {
        summary: 'List your autopilots.',
        load: async () => (await import('../commands/autopilots.ts')).listAutopilotsCommand,
      },
      show: {
        summary: 'Show an autopilot with its profile and policy.',
        load: async () => (await import('../commands/autopilots.ts')).showAutopilotCommand,
      },
      update: {
        summary: 'Change an autopilot.',
        load: async () => (await import('../commands/autopilots.ts')).updateAutopilotCommand,
      },
      archive: {
        summary: 'Archive an autopilot.',
        load: async () => (await import('../commands/autopilots.ts')).archiveAutopilotCommand,
      },
    },
  },
};
