import { ApiError } from '../../../shared/errors.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { Log } from '../../log.ts';
import type { NewLogin } from './store.ts';
import { generateCode, normaliseCode } from './typed-codes.ts';

interface LoginLinksDeps {
  insert: (login: NewLogin) => Promise<void>;
  endLogin: (login: Pick<NewLogin, 'id' | 'userId'>) => Promise<void>;
  log: Pick<Log, 'warn'>;
  digest: (text: string) => string;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

interface Link {
  userId: string;
  /** Whether the browser stays signed in. */
  keep: boolean;
  expiresAt: number;
  /** The login that it made; undefined before it was used. */
  made: Promise<NewLogin> | undefined;
}

const linkMs = 60_000;
/** 25 random bits each: 175. */
const linkGroups = 7;
/** Links are kept in memory, used ones until they are crowded out, so that a second use is noticed. */
const linksMax = 1000;

/** One-time links that sign a browser in. A restart of the daemon forgets them. */
export function createLoginLinks(deps: LoginLinksDeps) {
  const { digest, randomBytes, now } = deps;
  const links = new RecentMap<string, Link>(linksMax);
  return {
    create({ userId, keep }: Pick<Link, 'userId' | 'keep'>): { code: string; expiresAt: number } {
      const code = normaliseCode(generateCode(linkGroups, randomBytes));
      const expiresAt = now() + linkMs;
      links.set(digest(code), { userId, keep, expiresAt, made: undefined });
      return { code, expiresAt };
    },

    /**
     * Makes the login of a link; undefined for a code that is of no link. One that is used twice ends that login: one of both
     * who used it is not who it was made for.
     */
    async redeem<Login extends Omit<NewLogin, 'userId'>>(
      code: string,
      loginFor: (keep: boolean) => Login,
    ): Promise<(Login & { userId: string }) | undefined> {
      const link = links.get(digest(code));
      if (link === undefined) return undefined;
      if (link.made !== undefined) {
        await deps.endLogin(await link.made);
        deps.log.warn(
          { user_id: link.userId },
          'a sign-in link was used twice; the login that it made was ended',
        );
        const message =
          'This link was used before. The login that it made has been ended, as someone else may have seen it.';
        throw new ApiError('unauthenticated', { param: 'code', message });
      }
      if (link.expiresAt <= now()) {
        const message = 'This link has expired after 60 seconds.';
        throw new ApiError('unauthenticated', { param: 'code', message });
      }
      const login = { ...loginFor(link.keep), userId: link.userId };
      // Before anything is awaited, so that of two uses at the same time one is the second.
      link.made = deps.insert(login).then(() => login);
      link.made.catch(() => {
        link.made = undefined;
      });
      await link.made;
      return login;
    },
  };
}
