import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, WorkspaceReference } from './vocabulary.ts';

/** The size of a workspace's response cache. */
export const CacheView = Type.Object(
  {
    object: Type.Literal('cache'),
    entries: Count,
    bytes: Type.Integer({ minimum: 0, description: 'Size of the stored answers.' }),
    default: Type.Enum(['off', 'read-only', 'read-write'], {
      description: 'The cache mode of calls without `service.cache`.',
    }),
    ttl_seconds: Type.Integer({ minimum: 1, description: 'How long an answer can be reused.' }),
  },
  { $id: 'Cache', description: 'The size of a workspace’s response cache.' },
);

export type CacheView = Static<typeof CacheView>;

const access = { apiKey: 'workspace', login: 'admin' } as const;
const params = Type.Object({ workspace: WorkspaceReference });
const path = '/v1/workspaces/{workspace}/cache';

export const getCache = endpoint({
  id: 'getCache',
  method: 'GET',
  path,
  summary: 'Show the response cache.',
  description: 'How many answers are cached. For the workspace’s owner and admins.',
  tag: 'Cache',
  access,
  params,
  result: CacheView,
});

export const clearCache = endpoint({
  id: 'clearCache',
  method: 'DELETE',
  path,
  summary: 'Clear the response cache.',
  description: 'Later calls go to a provider again. For the workspace’s owner and admins.',
  tag: 'Cache',
  access,
  params,
  result: Type.Object({ object: Type.Literal('cache'), removed: Count }),
});
