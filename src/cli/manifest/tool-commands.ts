import { openApi } from '../../shared/endpoints.ts';
import type { CommandEntry, NounEntry } from './entry.ts';

/** Interfaces for people, editors, models and shells. */
export const toolCommands: Record<string, CommandEntry | NounEntry> = {
  tui: {
    summary: 'Open the full-screen interface; so does gateway on its own.',
    load: async () => (await import('../tui/commands.ts')).tuiCommand,
  },
  run: {
    summary: 'Start a coding tool that calls models through the gateway.',
    models: 'chat',
    lists: {
      completes: ['tool'],
      async suggest() {
        const { tools } = await import('../commands/run/tools.ts');
        return tools.map(({ command, title }) => ({ value: command, meaning: title }));
      },
    },
    load: async () => (await import('../commands/run/run.ts')).runCommand,
  },
  mcp: {
    summary: 'Serve MCP over standard input and output.',
    load: async () => (await import('../commands/mcp.ts')).mcpCommand,
  },
  openapi: {
    summary: 'Print the OpenAPI description of the API.',
    endpoint: openApi,
    load: async () => (await import('../commands/openapi.ts')).openApiCommand,
  },
  completion: {
    summary: 'Print a shell completion script.',
    load: async () => (await import('../commands/completion.ts')).completionCommand,
    isPlain: true,
  },
};
