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
 * The error for a request that matches no endpoint: it names the allowed methods, or the path that was probably meant.
 * A wrong method is a 404 too, as the API has no 405; `Allow` lists the methods.
 */
export function notFoundError(endpoints: readonly Endpoint[]): (call: ServerCall) => ApiError {
  let routes: Route[] | undefined;
  return ({ request, response }) => {
    routes ??= routesOf(endpoints);
    const [path = ''] = (request.url ?? '').split('?');
    const route = routeAt(routes, path);
    if (route !== undefined) {
      response.setHeader('allow', route.methods.join(', '));
      const message = `${route.path} supports ${listed(route.methods)}, not ${request.method}.`;
      return new ApiError('not_found', { message });
    }
    const meant = routeAt(routes, `/v1${path.replace(/^\/v1(?=\/v1\/)/, '').replace(/^\/v1(?=\/)/, '')}`);
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

function routeAt(routes: readonly Route[], path: string): Route | undefined {
  return routes.find(({ pattern }) => pattern.test(path));
}

/** `GET, HEAD and POST`. */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
