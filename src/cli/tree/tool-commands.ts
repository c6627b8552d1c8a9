import type { Noun, Verb } from './verb.ts';

/** Ways in for people, editors, models and shells. */
export const toolCommands: Record<string, Verb | Noun> = {
  tui: {
    summary: 'Watch and change all of this on one screen; the same as gateway alone.',
    load: async () => (await import('../commands/tui.ts')).tuiCommand,
  },
  mcp: {
    summary: 'Serve MCP over standard input and output.',
    load: async () => (await import('../commands/mcp.ts')).mcpCommand,
  },
  openapi: {
    summary: 'Print the description of the API.',
    load: async () => (await import('../commands/openapi.ts')).openApiCommand,
  },
  completion: {
    summary: 'Print what makes a shell complete commands, flags and values.',
    load: async () => (await import('../commands/completion.ts')).completionCommand,
    isPlain: true,
  },
};
