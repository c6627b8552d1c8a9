import { callMcp } from '../../../shared/contract/mcp.ts';
import { implement } from '../../handler.ts';
import type { McpNeeds } from './needs.ts';

export type { InnerCalls, Sender } from './inner-call.ts';
export type { McpNeeds } from './needs.ts';

/** The library takes long to load, and most daemons are never asked: it is loaded with the first message. */
export function mcpHandlers(needs: McpNeeds) {
  let serving: Promise<typeof import('./serve.ts')> | undefined;
  return [
    implement(callMcp, async ({ caller, requestId, signal, remoteAddress, headers, rawBody }) => {
      serving ??= import('./serve.ts');
      const { serveMessage } = await serving;
      const sender = { caller, requestId, signal, remoteAddress };
      return await serveMessage(needs, { sender, headers, body: rawBody ?? new Uint8Array() });
    }),
  ];
}
