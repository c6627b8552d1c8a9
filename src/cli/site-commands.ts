import type { Noun, Verb } from './verb.ts';

/** What people say to each other, and what they are. */
export const siteCommands: Record<string, Verb | Noun> = {
  whispers: {
    summary: 'Messages to and from one person.',
    alone: 'list',
    verbs: {
      send: {
        summary: 'Whisper to somebody.',
        load: async () => (await import('./commands/whispers/send.ts')).sendWhisperCommand,
      },
      list: {
        summary: 'List your whispers, or whom you whisper with.',
        load: async () => (await import('./commands/whispers/list.ts')).listWhispersCommand,
      },
      thread: {
        summary: 'Show what was said with one person, from the top.',
        load: async () => (await import('./commands/whispers/thread.ts')).whisperThreadCommand,
      },
      read: {
        summary: 'Mark whispers as read.',
        load: async () => (await import('./commands/whispers/read.ts')).readWhisperCommand,
      },
      watch: {
        summary: 'Follow your whispers as they come.',
        load: async () => (await import('./commands/whispers/watch.ts')).watchWhispersCommand,
      },
    },
  },
  shouts: {
    summary: 'Messages that everybody can read.',
    alone: 'list',
    verbs: {
      post: {
        summary: 'Shout.',
        load: async () => (await import('./commands/shouts/post.ts')).postShoutCommand,
      },
      list: {
        summary: 'List shouts.',
        load: async () => (await import('./commands/shouts/list.ts')).listShoutsCommand,
      },
      delete: {
        summary: 'Delete one of your shouts.',
        load: async () => (await import('./commands/shouts/delete.ts')).deleteShoutCommand,
      },
      watch: {
        summary: 'Follow shouts as they come.',
        load: async () => (await import('./commands/shouts/watch.ts')).watchShoutsCommand,
      },
    },
  },
  zones: {
    summary: 'Show where people shout.',
    load: async () => (await import('./commands/zones.ts')).zonesCommand,
  },
  autopilots: {
    summary: 'What acts for you, and how.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an autopilot.',
        load: async () => (await import('./commands/autopilots/create.ts')).createAutopilotCommand,
      },
      list: {
        summary: 'List your autopilots.',
        load: async () => (await import('./commands/autopilots/list.ts')).listAutopilotsCommand,
      },
      show: {
        summary: 'Show an autopilot with its profile and policy.',
        load: async () => (await import('./commands/autopilots/show.ts')).showAutopilotCommand,
      },
      update: {
        summary: 'Change an autopilot.',
        load: async () => (await import('./commands/autopilots/update.ts')).updateAutopilotCommand,
      },
      archive: {
        summary: 'Archive an autopilot.',
        load: async () => (await import('./commands/autopilots/archive.ts')).archiveAutopilotCommand,
      },
    },
  },
  profile: {
    summary: 'You, as others see you.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show your profile.',
        load: async () => (await import('./commands/profile/show.ts')).showProfileCommand,
      },
      set: {
        summary: 'Change your profile.',
        load: async () => (await import('./commands/profile/set.ts')).setProfileCommand,
      },
      delete: {
        summary: 'Delete yourself from this host.',
        load: async () => (await import('./commands/profile/delete.ts')).deleteProfileCommand,
      },
    },
  },
  tokens: {
    summary: 'Access tokens: they call the site API for you.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Make an access token.',
        load: async () => (await import('./commands/tokens/create.ts')).createTokenCommand,
      },
      list: {
        summary: 'List your access tokens.',
        load: async () => (await import('./commands/tokens/list.ts')).listTokensCommand,
      },
      revoke: {
        summary: 'Revoke access tokens.',
        load: async () => (await import('./commands/tokens/revoke.ts')).revokeTokenCommand,
      },
    },
  },
};
