import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';

const lifetimeMs = 10 * 60 * 1000;
const idBytes = 16;

/** An open challenge: its text, and what the text says. */
export interface Challenge {
  text: string;
  /** Leading zero bits that the hash of a proof must have. */
  difficulty: number;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

interface ChallengesDeps {
  /** The host's data key; 32 bytes. */
  dataKey: Uint8Array;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
  /** What expiries are compared with. */
  passed: () => number;
}

/**
 * Challenges for sign-up, in the form `difficulty.expiry.id.mac`. Each carries its own proof of origin, so that open ones
 * take no memory; the store rejects one that was used before.
 */
export function createChallenges({ dataKey, randomBytes, now, passed }: ChallengesDeps) {
  const macKey = Buffer.from(hkdfSync('sha256', dataKey, '', 'agent sign-up', 32));
  const macOf = (content: string) => createHmac('sha256', macKey).update(content).digest('base64url');
  return {
    create(difficulty: number): Challenge {
      const expiresAt = now() + lifetimeMs;
      const id = Buffer.from(randomBytes(idBytes)).toString('base64url');
      const content = `${difficulty}.${expiresAt}.${id}`;
      return { text: `${content}.${macOf(content)}`, difficulty, expiresAt };
    },

    /** Returns the challenge if it was created here, has not expired and is solved by `proof`; else undefined. */
    solved(text: string, proof: string): Challenge | undefined {
      const [, content = '', difficulty, expiresAt, mac = ''] =
        /^((\d{1,3})\.(\d{13,15})\.[\w-]{22})\.([\w-]{43})$/.exec(text) ?? [];
      const isOwn = timingSafeEqual(Buffer.from(macOf(content)), Buffer.from(mac.padEnd(43)));
      const challenge = { text, difficulty: Number(difficulty), expiresAt: Number(expiresAt) };
      if (!isOwn || challenge.expiresAt <= passed()) return undefined;
      const digest = hash('sha256', `${text}:${proof}`, 'buffer');
      return leadingZeroBits(digest) >= challenge.difficulty ? challenge : undefined;
    },
  };
}

function leadingZeroBits(digest: Uint8Array): number {
  const first = digest.findIndex((byte) => byte !== 0);
  return first < 0 ? digest.length * 8 : first * 8 + Math.clz32(digest[first] as number) - 24;
}
