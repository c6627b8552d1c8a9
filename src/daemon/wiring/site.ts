import type { Feature } from '../base/feature.ts';
import type { Handler } from '../base/handler.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Authenticator } from '../features/keys/index.ts';
import { sha256 } from '../features/keys/index.ts';
import { createPeople, createProfile, profileHandlers } from '../features/profile/index.ts';
import { createRowFeed } from '../features/row-streams/index.ts';
import { createShouts, shoutHandlers } from '../features/shouts/index.ts';
import { latestChats, type Threads } from '../features/threads/index.ts';
import { createTokens, tokenHandlers } from '../features/tokens/index.ts';
import { createWhispers, whisperHandlers } from '../features/whispers/index.ts';
import type { AppDeps } from './app-deps.ts';

interface SiteFeatures {
  authentication: Authenticator;
  events: Pick<EventFeed, 'publish'>;
  threads: Threads;
}

/** The features of the site API. */
export function createSiteFeature(deps: AppDeps, features: SiteFeatures): Feature {
  const { storage, world, makeId, log } = deps;
  const { authentication, events } = features;
  const now = () => world.now();
  const people = createPeople({ store: storage.profile });
  const accessTokens = createTokens({
    store: storage.tokens,
    lastUse: authentication.lastTokenUse,
    digest: sha256,
    makeId,
    randomBytes: (count) => world.randomBytes(count),
    now,
  });
  const own = createProfile({
    store: storage.profile,
    people,
    now,
  });
  const feed = createRowFeed({ world });
  /** Publishes only the whisper's id, as other members of the recipient's workspace can see its events. */
  const publishCreated = async (userId: string, id: number): Promise<void> => {
    const home = await storage.workspaces.homeOf(userId);
    if (home) events.publish({ type: 'whisper.created', workspaceId: home.id, data: { whisper: id } });
  };
  const direct = createWhispers({
    store: storage.whispers,
    people,
    feed,
    onCreated: ({ userId }, id) => {
      publishCreated(userId, id).catch((error: unknown) =>
        log.warn({ err: error }, 'a new whisper could not be announced'),
      );
    },
    now,
  });
  const handlers: Handler[] = [
    ...tokenHandlers({ tokens: accessTokens, numberOf: async (caller) => (await people.of(caller)).number }),
    ...profileHandlers({
      profile: own,
      chatsOf: (caller, limit) => latestChats(features.threads, caller, limit),
    }),
    ...whisperHandlers(direct),
    ...shoutHandlers(createShouts({ store: storage.shouts, people, feed, world })),
  ];
  return { handlers, onWritten: feed.readAgain, endStreams: feed.close };
}
