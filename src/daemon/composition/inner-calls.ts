import type { ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import type { InnerCalls } from '../features/mcp/index.ts';
import type { Caller, Handler } from '../handler.ts';
import { checkAccess } from '../http/protection/access.ts';
import { faultsOf } from '../http/validation/faults.ts';
import { type InputCheck, inputCheck, validatorOf } from '../http/validation/input-check.ts';

/** Calls endpoints of this daemon on behalf of a caller, with the checks that a request over HTTP passes. */
export function innerCalls(handlers: () => readonly Handler[]): InnerCalls {
  return {
    mayCall,
    async call(endpoint, input, sender) {
      checkAccess(endpoint, sender.caller);
      const parts = { params: {}, query: {}, headers: {}, body: undefined, ...input };
      checkOf(endpoint)(parts);
      const handler = handlers().find((it) => it.endpoint.id === endpoint.id);
      if (handler === undefined) throw new ApiError('not_found');
      return await handler.handle({ ...sender, ...parts, isTool: true });
    },
  };
}

/** The first fault in the arguments of a tool, as a sentence; undefined if they are valid. */
export function argumentFault(schema: TSchema, value: unknown): string | undefined {
  const validate = validatorOf(schema, { coerce: false, all: false });
  if (validate(value)) return undefined;
  return (
    faultsOf((validate.errors ?? []) as ErrorObject[], value)[0]?.message ?? 'The arguments are not valid.'
  );
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
