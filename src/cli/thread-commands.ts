import type { Noun, Verb } from './verb.ts';

/** What is about conversations that are kept. */
export const threadCommands: Record<string, Verb | Noun> = {
  threads: {
    summary: 'Conversations that are kept, and continued by respond --thread.',
    verbs: {
      list: {
        summary: 'List the threads of the workspace.',
        load: async () => (await import('./commands/threads/list.ts')).listThreadsCommand,
      },
      show: {
        summary: 'Show what was said in a thread.',
        load: async () => (await import('./commands/threads/show.ts')).showThreadCommand,
      },
      create: {
        summary: 'Create a thread.',
        load: async () => (await import('./commands/threads/create.ts')).createThreadCommand,
      },
      rename: {
        summary: 'Give a thread another title.',
        load: async () => (await import('./commands/threads/rename.ts')).renameThreadCommand,
      },
      delete: {
        summary: 'Delete a thread with all that was said in it.',
        load: async () => (await import('./commands/threads/delete.ts')).deleteThreadCommand,
      },
      stop: {
        summary: 'End the call that runs in a thread; what was made is charged.',
        load: async () => (await import('./commands/threads/stop.ts')).stopThreadCommand,
      },
      watch: {
        summary: 'Follow what happens in a thread.',
        load: async () => (await import('./commands/threads/watch.ts')).watchThreadCommand,
      },
    },
  },
  chats: {
    summary: 'Threads as chat clients see them.',
    verbs: {
      list: {
        summary: 'List the chats.',
        load: async () => (await import('./commands/chats/list.ts')).listChatsCommand,
      },
      runs: {
        summary: 'List the model calls that were made in a chat.',
        load: async () => (await import('./commands/chats/runs.ts')).listRunsCommand,
      },
    },
  },
};
