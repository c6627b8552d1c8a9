import { clearCache, getCache } from '../../../shared/contract/cache.ts';
import { type Handler, implement, type KeyOrLogin, keyOrLogin } from '../../base/handler.ts';
import { managedWorkspace, type Workspaces } from '../workspaces/index.ts';
import type { CacheSettings } from './caching-router.ts';
import type { CacheStore } from './store.ts';

interface CacheHandlersDeps {
  store: Pick<CacheStore, 'size' | 'clear'>;
  workspaces: Pick<Workspaces, 'membership'>;
  settings: CacheSettings;
}

/** The endpoints with which owners and admins of a workspace inspect and clear its cache. */
export function cacheHandlers({ store, workspaces, settings }: CacheHandlersDeps): Handler[] {
  const workspaceFor = (caller: KeyOrLogin, workspace: string): Promise<string> =>
    managedWorkspace(workspaces, { caller, workspace, action: 'manage its cache' });
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
