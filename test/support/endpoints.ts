import { readdirSync } from 'node:fs';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';

const folder = new URL('../../src/shared/contract/', import.meta.url);
const modules: object[] = await Promise.all(
  readdirSync(folder).map((name) => import(new URL(name, folder).href)),
);

/** Every endpoint that a contract declares. */
export const endpoints: readonly Endpoint[] = [
  ...new Set(modules.flatMap((it) => Object.values(it)).filter(isEndpoint)),
];

export function isEndpoint(value: unknown): value is Endpoint {
  return (
    typeof value === 'object' && value !== null && 'path' in value && 'method' in value && 'result' in value
  );
}

/** The path as the API's description writes it. */
export function documentedPath({ path }: Endpoint): string {
  return path.replace(/\.\.\.\}$/, '}');
}
