import type { ErrorObject } from 'ajv';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import { type McpDeps, mcpHandlers } from '../features/mcp/index.ts';
import type { Caller, Handler } from '../handler.ts';
import { parseJson } from '../http/json-body.ts';
import { checkAccess } from '../http/protection/access.ts';
import { httpLimits } from '../http/protection/limits.ts';
import { faultsOf } from '../http/validation/faults.ts';
import { type InputCheck, inputCheck, validatorOf } from '../http/validation/input-check.ts';

/** The MCP server. Its tools call the daemon's endpoints with the caller's own access. */
export function createMcpHandlers(
  deps: Pick<McpDeps, 'world' | 'log'>,
  handlers: () => readonly Handler[],
): Handler[] {
  return mcpHandlers({
    world: deps.world,
    log: deps.log,
    parse: (bytes) => parseJson(Buffer.from(bytes), httpLimits.jsonDepthMax),
    faultIn(schema, value) {
      const validate = validatorOf(schema, { coerce: false, all: false });
      if (validate(value)) return undefined;
      return (
        faultsOf((validate.errors ?? []) as ErrorObject[], value)[0]?.message ??
        'The arguments are not valid.'
      );
    },
    calls: {
      mayCall,
      async call(endpoint, input, sender) {
        checkAccess(endpoint, sender.caller);
        const parts = { params: {}, query: {}, headers: {}, body: undefined, ...input };
        checkOf(endpoint)(parts);
        const handler = handlers().find((it) => it.endpoint.id === endpoint.id);
        if (handler === undefined) throw new ApiError('not_found');
        return await handler.handle({ ...sender, ...parts, isTool: true });
      },
    },
  });
}

function mayCall(endpoint: Endpoint, caller: Caller): boolean {
  try {
    checkAccess(endpoint, caller);
    return true;
  } catch {
    return false;
  }
}

const checks = new Map<string, InputCheck>();

function checkOf(endpoint: Endpoint): InputCheck {
  const check = checks.get(endpoint.id) ?? inputCheck(endpoint);
  checks.set(endpoint.id, check);
  return check;
}
