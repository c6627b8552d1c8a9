import type { Feature } from '../base/feature.ts';
import { mcpHandlers } from '../features/mcp/index.ts';
import { argumentFault, type Endpoints } from '../http/inner-calls.ts';
import { parseJson } from '../http/json-body.ts';
import { httpLimits } from '../http/protection/limits.ts';
import type { AppDeps } from './app-deps.ts';

/** The MCP server. Its tools call the daemon's endpoints with the caller's own access. */
export function createMcpFeature({ world, log }: AppDeps, calls: Endpoints): Feature {
  return {
    handlers: mcpHandlers({
      world,
      log,
      parse: (bytes) => parseJson(Buffer.from(bytes), httpLimits.jsonDepthMax),
      faultIn: argumentFault,
      calls,
    }),
  };
}
