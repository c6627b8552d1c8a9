import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, WorkspaceReference } from './vocabulary.ts';

/** How full a workspace's response cache is. */
export const CacheView = Type.Object(
  {
    object: Type.Literal('cache'),
    entries: Count,
    bytes: Type.Integer({ minimum: 0, description: 'Of the answers’ texts.' }),
    default: Type.Enum(['off', 'read-only', 'read-write'], {
      description: 'What holds for calls without `service.cache`.',
    }),
    ttl_seconds: Type.Integer({ minimum: 1, description: 'How long an answer is given again.' }),
  },
  { $id: 'Cache', description: 'How full a workspace’s response cache is.' },
);

export type CacheView = Static<typeof CacheView>;

const access = { apiKey: 'workspace', login: 'admin' } as const;
const params = Type.Object({ workspace: WorkspaceReference });
const path = '/v1/workspaces/{workspace}/cache';

/** Shows how many answers of a workspace are kept to be given again. */
export const getCache = endpoint({
  id: 'getCache',
  method: 'GET',
  path,
  summary: 'Show the response cache.',
  description: 'How many answers are kept to be given again. For the workspace’s owner and admins.',
  tag: 'Cache',
  access,
  surface: 'v1',
  params,
  result: CacheView,
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'invalid_request'],
});

/** Drops the answers that a workspace's calls would be given again. */
export const clearCache = endpoint({
  id: 'clearCache',
  method: 'DELETE',
  path,
  summary: 'Clear the response cache.',
  description: 'Later calls are answered by a provider again. For the workspace’s owner and admins.',
  tag: 'Cache',
  access,
  surface: 'v1',
  params,
  result: Type.Object({ object: Type.Literal('cache'), removed: Count }),
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'invalid_request', 'unavailable'],
});
