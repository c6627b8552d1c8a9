import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import { inWords } from '../../shared/text/in-words.ts';
import type { ServerCall } from './server-call.ts';

/** Longer paths are not searched for the path that was meant. */
const segmentsMax = 20;

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
    const [found] = routesAt(routes, path);
    if (found !== undefined) {
      const { methods } = found;
      if (methods.includes(request.method ?? '')) {
        return new ApiError('not_found', { message: 'There is no WebSocket at this path.' });
      }
      response.setHeader('allow', [...methods, 'OPTIONS'].join(', '));
      if (request.method === 'OPTIONS') return undefined;
      const message = `${readable(found.path)} supports ${inWords(methods, 'and')}, not ${request.method}.`;
      return new ApiError('method_not_allowed', { message });
    }
    const meant = meantRoute(routes, path);
    const message = meant
      ? `This path does not exist. Did you mean ${readable(meant.path)}?`
      : (insteadOf(path) ?? 'This path does not exist. See /docs, or /v1/openapi.json for programs.');
    return new ApiError('not_found', { message });
  };
}

/** The endpoint that a base URL with a part too few or too many leads past, such as `/openai/v1/chat/completions`. */
function meantRoute(routes: readonly Route[], path: string): Route | undefined {
  const [, ...segments] = path.replace(/^\/v1(?=\/)/, '').split('/', segmentsMax);
  for (const at of segments.keys()) {
    const [found] = routesAt(routes, `/v1/${segments.slice(at).join('/')}`);
    // An unknown path could end with the parameter of any.
    if (found && (at === 0 || parameterCount(found.path) === 0)) return found;
  }
  return undefined;
}

/** Endpoints of OpenAI's and other APIs that clients try, and what to use instead. */
const alternatives: readonly (readonly [path: RegExp, alternative: string])[] = [
  [/\/completions$/, 'Text completions are not supported: use /v1/chat/completions or /v1/responses.'],
  [
    /\/images\/(generations|edits|variations)$/,
    'There is no endpoint for images: use a model with image output at /v1/responses or /v1/chat/completions.',
  ],
  [
    /\/audio\/(speech|transcriptions|translations)$/,
    'There is no endpoint for audio: use a model with audio at /v1/chat/completions.',
  ],
  [
    /\/rerank$/,
    'There is no endpoint for reranking: rank by the vectors of /v1/embeddings, or by scores of /v1/decisions.',
  ],
  [/\/realtime\b/, 'The Realtime API is not supported: for a WebSocket, use /v1/responses.'],
  [
    /:(stream)?(generateContent|countTokens|embedContent)$/i,
    "Gemini's format is not supported: use /v1/chat/completions or /v1/responses.",
  ],
  [
    /^(\/v1)?\/(health|live|liveness|ready|readiness|status|ping)(\/\w{1,20})?$/,
    'Health checks are at /healthz and /readyz.',
  ],
  [/\/moderations$/, 'There is no endpoint for moderation: call the provider itself.'],
  [
    /\/conversations\b/,
    'Conversations are not supported: use `previous_response_id` at /v1/responses, or /v1/threads.',
  ],
  [/\/assistants\b|\/threads\/[^/]+\/runs$/, 'Assistants are not supported: use /v1/responses.'],
  [
    /\/(files|uploads|batches|fine_tuning|vector_stores)\b/,
    'Files and jobs are not supported: call the provider itself.',
  ],
];

function insteadOf(path: string): string | undefined {
  return alternatives.find(([pattern]) => pattern.test(path))?.[1];
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

/** A path as in the reference. */
const readable = (path: string) => path.replace('...}', '}');

/**
 * Methods of paths with parameters that would take a more literal path which does not have them: `GET /v1/responses/{id}`
 * takes `/v1/responses/compact`, which has only POST.
 */
export function hiddenMethods(
  endpoints: readonly Endpoint[],
): { path: string; methods: Endpoint['method'][] }[] {
  const known = endpoints.map(({ path, method }) => ({
    pattern: patternOf(path),
    method,
    parameters: parameterCount(path),
  }));
  const hidden = [...new Set(endpoints.map(({ path }) => path))].map((path) => {
    const own = endpoints.filter((endpoint) => endpoint.path === path).map(({ method }) => method);
    const parameters = parameterCount(path);
    // A pattern takes the placeholders of a path for values.
    const matching = known.filter((other) => other.parameters > parameters && other.pattern.test(path));
    const methods = [...new Set(matching.map(({ method }) => method))].filter(
      (method) => !own.includes(method),
    );
    return { path, methods };
  });
  return hidden.filter(({ methods }) => methods.length > 0);
}
