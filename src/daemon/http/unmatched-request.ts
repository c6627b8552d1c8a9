import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ServerCall } from './server-call.ts';

interface Route {
  /** As in its contract. */
  path: string;
  pattern: RegExp;
  methods: string[];
}

/**
 * The error for a request, or an upgrade, that matches no endpoint. A known path with another method is 405 with `Allow`;
 * for OPTIONS that header is the whole answer, and there is no error. An unknown path is 404, and the message suggests the
 * intended one.
 */
export function unmatchedRequest(endpoints: readonly Endpoint[]): (call: ServerCall) => ApiError | undefined {
  let routes: Route[] | undefined;
  return ({ request, response }) => {
    routes ??= routesOf(endpoints);
    const [path = ''] = (request.url ?? '').split('?');
    const found = routesAt(routes, path);
    if (found[0] !== undefined) {
      // `/v1/responses/compact` is also the path of a response.
      const methods = [...new Set(found.flatMap((route) => route.methods))];
      if (methods.includes(request.method ?? '')) {
        return new ApiError('not_found', { message: 'There is no WebSocket at this path.' });
      }
      response.setHeader('allow', [...methods, 'OPTIONS'].join(', '));
      if (request.method === 'OPTIONS') return undefined;
      const message = `${found[0].path} supports ${listed(methods)}, not ${request.method}.`;
      return new ApiError('method_not_allowed', { message });
    }
    const [meant] = routesAt(routes, `/v1${path.replace(/^\/v1(?=\/v1\/)/, '').replace(/^\/v1(?=\/)/, '')}`);
    const message = meant
      ? `This path does not exist. Did you mean ${meant.path}?`
      : 'This path does not exist. See /docs, or /v1/openapi.json for programs.';
    return new ApiError('not_found', { message });
  };
}

function routesOf(endpoints: readonly Endpoint[]): Route[] {
  const routes = new Map<string, Route>();
  for (const { path, method } of endpoints) {
    const route = routes.get(path) ?? { path, pattern: patternOf(path), methods: [] };
    routes.set(path, route);
    route.methods.push(method);
    if (method === 'GET') route.methods.push('HEAD');
  }
  // Literal paths come before those with parameters.
  return [...routes.values()].sort((a, b) => parameterCount(a.path) - parameterCount(b.path));
}

function parameterCount(path: string): number {
  return path.split('{').length - 1 + (path.endsWith('...}') ? 100 : 0);
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\\\.\\\.\\\.\}/, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}

function routesAt(routes: readonly Route[], path: string): Route[] {
  return routes.filter(({ pattern }) => pattern.test(path));
}

/** `GET, HEAD and POST`. */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
