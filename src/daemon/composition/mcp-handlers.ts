import { type McpDeps, mcpHandlers } from '../features/mcp/index.ts';
import type { Handler } from '../handler.ts';
import { parseJson } from '../http/json-body.ts';
import { httpLimits } from '../http/protection/limits.ts';
import { argumentFault, innerCalls } from './inner-calls.ts';

/** The MCP server. Its tools call the daemon's endpoints with the caller's own access. */
export function createMcpHandlers(
  deps: Pick<McpDeps, 'world' | 'log'>,
  handlers: () => readonly Handler[],
): Handler[] {
  return mcpHandlers({
    world: deps.world,
    log: deps.log,
    parse: (bytes) => parseJson(Buffer.from(bytes), httpLimits.jsonDepthMax),
    faultIn: argumentFault,
    calls: innerCalls(handlers),
  });
}
