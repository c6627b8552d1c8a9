import { callMcp } from '../../../shared/contract/mcp.ts';
import { implement } from '../../base/handler.ts';
import type { McpDeps } from './deps.ts';

/** Loads the library with the first message: it is slow to load, and most daemons never need it. */
export function mcpHandlers(deps: McpDeps) {
  let serving: Promise<typeof import('./serve.ts')> | undefined;
  return [
    implement(callMcp, async ({ caller, requestId, signal, remoteAddress, headers, rawBody }) => {
      serving ??= import('./serve.ts');
      const { serveMessage } = await serving;
      const sender = { caller, requestId, signal, remoteAddress };
      return await serveMessage(deps, { sender, headers, body: rawBody ?? new Uint8Array() });
    }),
  ];
}
