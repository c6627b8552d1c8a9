import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { standalone } from '../../shared/contract/schema.ts';
import { ApiError } from '../../shared/errors.ts';
import { gatewayKeyHeader } from '../../shared/http/gateway-key.ts';
import { inWords } from '../../shared/text/in-words.ts';
import type { Caller, Handler } from '../base/handler.ts';
import { inviteBody } from './connection-errors.ts';
import { checkBodyHeaders } from './json-body.ts';
import type { Serialise } from './responder.ts';
import type { ServerCall } from './server-call.ts';
import type { ServerContext } from './server-context.ts';
import { inputCheck, paramsCheck } from './validation/input-check.ts';

const upgradeRequired = 'This endpoint is a WebSocket: send an upgrade request.';

/**
 * Registers the endpoints of all handlers: access, validation and serialization come from their contracts. Endpoints that
 * differ in nothing but their method share a route, as registering one takes Fastify longer than all else at the start.
 */
export function addEndpoints(
  app: FastifyInstance,
  handlers: readonly Handler[],
  context: ServerContext,
): void {
  const shared = Map.groupBy(handlers, ({ endpoint: { path, bodyLimit } }) => `${path} ${bodyLimit}`);
  for (const group of shared.values()) addRoute(app, group, context);
}

/** The path of a contract in the form of Fastify. */
export function routeUrl(path: string): string {
  return path.replace(/\{\w+\.\.\.\}$/, '*').replace(/\{(\w+)\}/g, ':$1');
}

/** One route for handlers whose endpoints have the same path and the same limit for bodies. */
function addRoute(app: FastifyInstance, handlers: readonly Handler[], context: ServerContext): void {
  const served = new Map<string, ServedEndpoint>();
  for (const handler of handlers) {
    const endpoint = serveEndpoint(handler, context);
    const { method } = handler.endpoint;
    served.set(method, endpoint);
    if (method === 'GET') served.set('HEAD', endpoint);
  }
  const servedBy = ({ raw }: FastifyRequest) => served.get(raw.method as string) as ServedEndpoint;
  const [{ endpoint }] = handlers as [Handler];
  app.route({
    method: [...served.keys()],
    url: routeUrl(endpoint.path),
    bodyLimit: bodyLimitOf(endpoint, context),
    onRequest: (request, _reply, done) => servedBy(request).onRequest(request, done),
    handler: (request, reply) => servedBy(request).handle(request, reply),
  });
}

interface ServedEndpoint {
  onRequest(request: FastifyRequest, done: () => void): void;
  handle(request: FastifyRequest, reply: FastifyReply): void;
}

function serveEndpoint(handler: Handler, context: ServerContext): ServedEndpoint {
  const { endpoint, handle } = handler;
  const rest = /\{(\w+)\.\.\.\}$/.exec(endpoint.path)?.[1];
  const check = inputCheck(endpoint);
  const serialiser = lazySerialiser(endpoint);
  const allow = createAccessCheck(endpoint, bodyLimitOf(endpoint, context), context);
  const permit = handler.permit && permission(handler.permit, endpoint, context);
  const paramsOf = ({ params }: FastifyRequest) =>
    rest === undefined ? params : restParameter(params, rest);
  return {
    onRequest(request, done) {
      const { call } = request;
      if (permit === undefined) return allow(call, done);
      call.params = paramsOf(request);
      allow(call, () => permit(call, done));
    },
    handle(request, reply) {
      const { call } = request;
      call.query = request.query;
      call.body = request.body;
      call.params = paramsOf(request);
      let answer: Promise<unknown>;
      try {
        if (endpoint.socket) throw new ApiError('invalid_request', { message: upgradeRequired });
        check(call);
        context.overload.accept(endpoint, call.body);
        if (endpoint.stream && call.caller.kind === 'anonymous')
          context.publicStreams.enter(call.remoteAddress, call.response);
        call.isTaken = true;
        answer = handle(call);
      } catch (error) {
        context.responder.fail(call, error);
        return;
      }
      call.isWorking = true;
      const finish = () => {
        call.isWorking = false;
        context.running.release(call);
      };
      answer.then(
        (value) => {
          // Frees the body, as a stream can run for a long time.
          request.body = undefined;
          call.body = undefined;
          call.rawBody = undefined;
          context.largeBodies.free(call);
          const streamed = context.responder.succeed(call, value, () => serialiser(reply));
          if (streamed === undefined) finish();
          else streamed.then(finish, finish);
        },
        (error) => {
          context.responder.fail(call, error);
          finish();
        },
      );
    },
  };
}

function bodyLimitOf(endpoint: Endpoint, { limits }: ServerContext): number {
  return endpoint.bodyLimit ?? limits.bodyBytesMax;
}

/** Authenticates and authorizes a request, and checks what headers alone reveal about its body. */
export function createAccessCheck(endpoint: Endpoint, bodyBytesMax: number, context: ServerContext) {
  const { responder, publicRate } = context;
  const enter = (call: ServerCall, caller: Caller, done: () => void): void => {
    try {
      call.caller = caller;
      checkAccess(endpoint, caller);
      context.overload.accept(endpoint, undefined);
      if (caller.kind === 'anonymous' && endpoint.access.anonymous !== 'unlimited')
        limitRate(publicRate.take(call.remoteAddress));
      checkBodyHeaders(call.headers, bodyBytesMax);
      context.largeBodies.hold(call, Number(call.headers['content-length'] ?? 0));
      inviteBody(call.request, call.response);
    } catch (error) {
      responder.fail(call, error);
      return;
    }
    done();
  };
  return (call: ServerCall, done: () => void): void => {
    call.endpoint = endpoint;
    const { requestId, remoteAddress } = call;
    let caller: Caller | Promise<Caller>;
    try {
      const { traceparent, 'x-workspace-id': workspace } = call.headers;
      if (traceparent !== undefined) context.options.onParent?.(requestId, traceparent);
      const authContext = { endpoint, requestId, remoteAddress, workspace };
      caller = context.options.authenticate(credentialIn(call), authContext);
    } catch (error) {
      responder.fail(call, error);
      return;
    }
    if (caller instanceof Promise) {
      caller.then(
        (known) => enter(call, known, done),
        (error) => responder.fail(call, error),
      );
    } else {
      enter(call, caller, done);
    }
  };
}

/**
 * The credential of a request in the form of `Authorization`; clients of the Messages API may send it as `x-api-key`. Where
 * it is in a header of its own, `Authorization` is for the provider.
 */
export function credentialIn(call: ServerCall): string | undefined {
  const { authorization, 'x-api-key': key, [gatewayKeyHeader]: own } = call.headers;
  if (own !== undefined) return `Bearer ${own}`;
  if (authorization !== undefined || typeof key !== 'string' || call.surface !== 'messages')
    return authorization;
  return `Bearer ${key}`;
}

/** Checks permission before the body, so that validation errors reveal nothing to callers without it. */
function permission(ask: NonNullable<Handler['permit']>, endpoint: Endpoint, { responder }: ServerContext) {
  const checkParams = paramsCheck(endpoint);
  return async (call: ServerCall, done: () => void): Promise<void> => {
    try {
      checkParams(call);
      await ask(call);
    } catch (error) {
      responder.fail(call, error);
      return;
    }
    done();
  };
}

function limitRate(waitSeconds: number): void {
  if (waitSeconds === 0) return;
  throw new ApiError('rate_limited', {
    message: 'Too many requests without a key from this address.',
    retryAfterSeconds: waitSeconds,
  });
}

function restParameter(params: unknown, name: string): Record<string, unknown> {
  const value = (params as { '*': string })['*'];
  if (value === '') return {};
  return { [name]: value };
}

/** Compiles on first use: compiling hundreds of schemas would dominate the start. */
function lazySerialiser(endpoint: Endpoint): (reply: FastifyReply) => Serialise {
  let serialise: Serialise | undefined;
  return (reply) => {
    serialise ??= reply.compileSerializationSchema(standalone(endpoint.result)) as Serialise;
    return serialise;
  };
}

/** Fails if the endpoint's contract does not allow this kind of caller. Roles are checked by the feature. */
export function checkAccess({ access, surface }: Endpoint, caller: Caller): void {
  if (access.loginOnly && caller.kind !== 'login') throw new ApiError('signed_out');
  switch (caller.kind) {
    case 'anonymous':
      if (!access.anonymous) throw new ApiError('unauthenticated');
      return;
    case 'key': {
      const { apiKey } = access;
      if (apiKey === undefined) throw notFor('API keys');
      if (apiKey === 'any') return;
      const scopes = typeof apiKey === 'string' ? [apiKey] : apiKey;
      if (!scopes.some((scope) => caller.scopes.has(scope))) {
        throw new ApiError('out_of_scope', {
          message: `The key lacks the scope ${inWords(scopes.map((scope) => `\`${scope}\``))}.`,
        });
      }
      return;
    }
    case 'token': {
      const { token } = access;
      // The /v1 API accepts no tokens; the site API accepts all of them and checks their abilities.
      if (token === undefined) throw new ApiError(surface === 'site' ? 'permission' : 'unauthenticated');
      if (token === 'any' || caller.abilities.has('*') || caller.abilities.has(token)) return;
      throw new ApiError('permission', { message: `The token lacks the ability \`${token}\`.` });
    }
    case 'agent':
      if (!access.agent) throw notFor('agents');
      return;
    case 'autopilot':
      if (access.login !== 'any') throw notFor('autopilots');
      return;
    case 'login':
      if (access.login === undefined) throw new ApiError('permission');
  }
}

/** On the site API, whose 403 has one sentence, the reason is only in events and the log. */
function notFor(callers: string): ApiError {
  return new ApiError('permission', { message: `This endpoint is not available to ${callers}.` });
}
