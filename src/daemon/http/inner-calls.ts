import type { ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { openApiDocument } from '../../shared/contract/openapi.ts';
import { ApiError } from '../../shared/errors.ts';
import { apiVersion } from '../../shared/version.ts';
import type { Caller, Handler } from '../base/handler.ts';
import type { InnerCalls } from '../base/inner-calls.ts';
import { checkAccess } from './endpoint-route.ts';
import { faultsOf } from './validation/faults.ts';
import { type InputCheck, inputCheck, validatorOf } from './validation/input-check.ts';

/** The endpoints of this daemon, for the features that call or describe them. */
export interface Endpoints extends InnerCalls {
  /** Sets the handlers that calls reach; called once, before the first call. */
  serve(handlers: readonly Handler[]): void;
  /** The OpenAPI document. */
  describe(): unknown;
}

/** Calls endpoints on behalf of a caller, with the checks that a request over HTTP passes. */
export function createEndpoints(): Endpoints {
  let served: readonly Handler[] = [];
  return {
    serve(handlers) {
      served = handlers;
    },
    describe: () =>
      openApiDocument(
        served.map(({ endpoint }) => endpoint),
        { version: apiVersion },
      ),
    mayCall,
    async call(endpoint, input, sender) {
      checkAccess(endpoint, sender.caller);
      const parts = { params: {}, query: {}, headers: {}, body: undefined, ...input };
      checkOf(endpoint)(parts);
      const handler = served.find((it) => it.endpoint.id === endpoint.id);
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
