import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ServerCall } from './server-call.ts';

interface Place {
  /** As its contract writes it. */
  path: string;
  pattern: RegExp;
  methods: string[];
}

/**
 * Tells whoever asked for what is not there what there is: the methods of the path, or the path that was meant. It is 404
 * in both cases, as the service has no status for methods; `Allow` names them.
 */
export function notFoundError(endpoints: readonly Endpoint[]): (call: ServerCall) => ApiError {
  let places: Place[] | undefined;
  return ({ request, response }) => {
    // Made for the first who is lost: most daemons never need it.
    places ??= placesOf(endpoints);
    const [path = ''] = (request.url ?? '').split('?');
    const here = placeAt(places, path);
    if (here !== undefined) {
      response.setHeader('allow', here.methods.join(', '));
      const message = `${here.path} takes ${listed(here.methods)}, not ${request.method}.`;
      return new ApiError('not_found', { message });
    }
    const meant = placeAt(places, `/v1${path.replace(/^\/v1(?=\/v1\/)/, '').replace(/^\/v1(?=\/)/, '')}`);
    const message = meant
      ? `There is nothing at that path. Did you mean ${meant.path}?`
      : 'There is nothing at that path. /docs describes every path, and /v1/openapi.json does so for programs.';
    return new ApiError('not_found', { message });
  };
}

function placesOf(endpoints: readonly Endpoint[]): Place[] {
  const places = new Map<string, Place>();
  for (const { path, method } of endpoints) {
    const place = places.get(path) ?? { path, pattern: patternOf(path), methods: [] };
    places.set(path, place);
    place.methods.push(method);
    // What can be got can be asked for its head alone.
    if (method === 'GET') place.methods.push('HEAD');
  }
  // Paths that are written out come before those with names in them.
  return [...places.values()].sort((a, b) => openness(a.path) - openness(b.path));
}

function openness(path: string): number {
  return path.split('{').length - 1 + (path.endsWith('...}') ? 100 : 0);
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\\\.\\\.\\\.\}/, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}

function placeAt(places: readonly Place[], path: string): Place | undefined {
  return places.find(({ pattern }) => pattern.test(path));
}

/** `GET, HEAD and POST`. */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
