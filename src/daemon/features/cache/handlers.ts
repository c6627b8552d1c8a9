import { clearCache, getCache } from '../../../shared/contract/cache.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Handler, implement, type KeyOrLogin, keyOrLogin } from '../../handler.ts';
import type { Workspaces } from '../workspaces/index.ts';
import type { CacheSettings } from './caching-router.ts';
import type { CacheStore } from './store.ts';

interface CacheHandlersDeps {
  store: Pick<CacheStore, 'size' | 'clear'>;
  workspaces: Pick<Workspaces, 'membership'>;
  settings: CacheSettings;
}

/** The endpoints with which owners and admins of a workspace inspect and clear its cache. */
export function cacheHandlers({ store, workspaces, settings }: CacheHandlersDeps): Handler[] {
  const workspaceFor = async (caller: KeyOrLogin, workspace: string): Promise<string> => {
    const membership = await workspaces.membership(caller, workspace);
    if (membership && membership.role !== 'member') return membership.workspaceId;
    throw new ApiError('permission', {
      message: 'Only owners and admins of a workspace can manage its cache.',
    });
  };
  return [
    implement(getCache, async ({ caller, params }) => ({
      object: 'cache',
      ...(await store.size(await workspaceFor(keyOrLogin(caller), params.workspace))),
      default: settings.defaultMode,
      ttl_seconds: Math.round(settings.ttlMs / 1000),
    })),
    implement(clearCache, async ({ caller, params }) => ({
      object: 'cache',
      removed: await store.clear(await workspaceFor(keyOrLogin(caller), params.workspace)),
    })),
  ];
}
