import type { MakeId } from '../shared/ids.ts';
import type { Authenticator } from './features/keys/index.ts';
import { sha256 } from './features/keys/index.ts';
import { persons as makePersons, profile, profileHandlers } from './features/profile/index.ts';
import { tokenHandlers, tokens } from './features/tokens/index.ts';
import type { Workspaces } from './features/workspaces/index.ts';
import type { Handler } from './handler.ts';
import type { Storage } from './storage/storage.ts';
import type { World } from './world.ts';

interface SiteNeeds {
  storage: Storage;
  world: World;
  makeId: MakeId;
}

interface Neighbours {
  authentication: Authenticator;
  workspaces: Workspaces;
}

/** What people do on the site API: tokens and profile. */
export function createSite(
  { storage, world, makeId }: SiteNeeds,
  { authentication, workspaces }: Neighbours,
) {
  const now = () => world.now();
  const persons = makePersons({ store: storage.profile });
  const accessTokens = tokens({
    store: storage.tokens,
    authenticator: authentication,
    digest: sha256,
    makeId,
    randomBytes: (count) => world.randomBytes(count),
    now,
  });
  const own = profile({
    store: storage.profile,
    persons,
    endings: authentication,
    forgetRole: workspaces.forgetRole,
    now,
  });
  const handlers: Handler[] = [
    ...tokenHandlers({ tokens: accessTokens, numberOf: async (caller) => (await persons.of(caller)).number }),
    ...profileHandlers({ profile: own }),
  ];
  return { handlers };
}
