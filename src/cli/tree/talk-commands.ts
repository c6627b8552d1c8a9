import type { Noun, Verb } from './verb.ts';

/** What is said, to models and to people. */
export const talkCommands: Record<string, Verb | Noun> = {
  threads: {
    summary: 'Conversations that are kept, and continued by respond --thread.',
    verbs: {
      list: {
        summary: 'List the threads of the workspace.',
        load: async () => (await import('../commands/threads/list.ts')).listThreadsCommand,
      },
      show: {
        summary: 'Show what was said in a thread.',
        load: async () => (await import('../commands/threads/show.ts')).showThreadCommand,
      },
      create: {
        summary: 'Create a thread.',
        load: async () => (await import('../commands/threads/create.ts')).createThreadCommand,
      },
      rename: {
        summary: 'Give a thread another title.',
        load: async () => (await import('../commands/threads/rename.ts')).renameThreadCommand,
      },
      delete: {
        summary: 'Delete a thread with all that was said in it.',
        load: async () => (await import('../commands/threads/delete.ts')).deleteThreadCommand,
      },
      stop: {
        summary: 'End the call that runs in a thread; what was made is charged.',
        load: async () => (await import('../commands/threads/stop.ts')).stopThreadCommand,
      },
      watch: {
        summary: 'Follow what happens in a thread.',
        load: async () => (await import('../commands/threads/watch.ts')).watchThreadCommand,
      },
    },
  },
  chats: {
    summary: 'Threads as chat clients see them.',
    verbs: {
      list: {
        summary: 'List the chats.',
        load: async () => (await import('../commands/chats/list.ts')).listChatsCommand,
      },
      runs: {
        summary: 'List the model calls that were made in a chat.',
        load: async () => (await import('../commands/chats/runs.ts')).listRunsCommand,
      },
    },
  },
  whispers: {
    summary: 'Messages to and from one person.',
    alone: 'list',
    verbs: {
      send: {
        summary: 'Whisper to somebody.',
        load: async () => (await import('../commands/whispers/send.ts')).sendWhisperCommand,
      },
      list: {
        summary: 'List your whispers, or whom you whisper with.',
        load: async () => (await import('../commands/whispers/list.ts')).listWhispersCommand,
      },
      thread: {
        summary: 'Show what was said with one person, from the top.',
        load: async () => (await import('../commands/whispers/thread.ts')).whisperThreadCommand,
      },
      read: {
        summary: 'Mark whispers as read.',
        load: async () => (await import('../commands/whispers/read.ts')).readWhisperCommand,
      },
      watch: {
        summary: 'Follow your whispers as they come.',
        load: async () => (await import('../commands/whispers/watch.ts')).watchWhispersCommand,
      },
    },
  },
  shouts: {
    summary: 'Messages that everybody can read.',
    alone: 'list',
    verbs: {
      post: {
        summary: 'Shout.',
        load: async () => (await import('../commands/shouts/post.ts')).postShoutCommand,
      },
      list: {
        summary: 'List shouts.',
        load: async () => (await import('../commands/shouts/list.ts')).listShoutsCommand,
      },
      delete: {
        summary: 'Delete one of your shouts.',
        load: async () => (await import('../commands/shouts/delete.ts')).deleteShoutCommand,
      },
      watch: {
        summary: 'Follow shouts as they come.',
        load: async () => (await import('../commands/shouts/watch.ts')).watchShoutsCommand,
      },
    },
  },
  zones: {
    summary: 'Show where people shout.',
    load: async () => (await import('../commands/zones.ts')).zonesCommand,
  },
  autopilots: {
    summary: 'What acts for you, and how.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an autopilot.',
        load: async () => (await import('../commands/autopilots/create.ts')).createAutopilotCommand,
      },
      list: {
        summary: 'List your autopilots.',
        load: async () => (await import('../commands/autopilots/list.ts')).listAutopilotsCommand,
      },
      show: {
        summary: 'Show an autopilot with its profile and policy.',
        load: async () => (await import('../commands/autopilots/show.ts')).showAutopilotCommand,
      },
      update: {
        summary: 'Change an autopilot.',
        load: async () => (await import('../commands/autopilots/update.ts')).updateAutopilotCommand,
      },
      archive: {
        summary: 'Archive an autopilot.',
        load: async () => (await import('../commands/autopilots/archive.ts')).archiveAutopilotCommand,
      },
    },
  },
};
