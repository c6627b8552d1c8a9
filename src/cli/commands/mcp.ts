import { Command } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { example } from './example.ts';
import { bridge } from './mcp/bridge.ts';

export const mcpCommand = (context: Context) =>
  new Command('mcp')
    .addHelpText('after', example('claude mcp add gateway -- gateway mcp'))
    .action(() => bridge(context));
