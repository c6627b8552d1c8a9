import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../shared/errors.ts';
import { type Environment, foldersOf } from '../../../shared/folders.ts';
import { isObject, parseObject } from '../../../shared/json/json-object.ts';
import { type L402Offer, type PaymentOffer, tokenBounds } from '../../../shared/payments/payment-offers.ts';
import { CliError } from '../../failures/cli-error.ts';
import type { WebRequest } from './web-request.ts';

/** A payment for a request, from before it is made until it is used up. */
export interface Purchase {
  url: string;
  /** The id of the wallet that pays. */
  wallet: string;
  offer: PaymentOffer;
  /** `paying`: it may have been paid; `paid`: the answer has not arrived; `served`: a token for later requests. */
  state: 'paying' | 'paid' | 'served';
  paymentId: string | null;
  /** In hexadecimal; null until the payment succeeded. */
  preimage: string | null;
  /** When it was started, in milliseconds since 1970. */
  at: number;
}

/** A token that was paid for. */
export type KeptToken = Purchase & { offer: L402Offer; preimage: string };

const folderName = 'purchases';

/**
 * The purchases of this user, a file each that only they can read. A request has one at most, which is stored before
 * anything is paid, so that the same request is never paid for twice.
 */
export function purchases(environment: Environment) {
  const folder = join(foldersOf(environment).data, folderName);
  const pathOf = (id: string) => join(folder, `${id}.json`);

  const read = (id: string): Purchase | undefined => {
    const path = pathOf(id);
    const text = readText(path);
    if (text === undefined) return undefined;
    const found = parseObject(text);
    if (isPurchase(found)) return found;
    throw new CliError(`${path} is damaged.`, {
      exit: exitCodes.failed,
      next: `Look for the payment with gateway payments list, then delete it: rm ${path}`,
    });
  };

  const served = (): [id: string, kept: KeptToken][] =>
    namesIn(folder).flatMap((name) => {
      const id = name.slice(0, -'.json'.length);
      const found = name.endsWith('.json') ? parseObject(readText(pathOf(id)) ?? '') : undefined;
      return isPurchase(found) && isKept(found) ? [[id, found] as [string, KeptToken]] : [];
    });

  return {
    read,

    /** Stores a purchase that starts; returns false if the request has one already. */
    start(id: string, purchase: Purchase): boolean {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const [old, { offer }] of served()) {
        if (tokenBounds(offer.token).expiresAt <= purchase.at) rmSync(pathOf(old));
      }
      try {
        writeFileSync(pathOf(id), JSON.stringify(purchase), { mode: 0o600, flag: 'wx', flush: true });
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw cannot('write', pathOf(id), error);
      }
    },

    /** Replaces a purchase by its new state. */
    update(id: string, purchase: Purchase): void {
      const partial = `${pathOf(id)}.${process.pid}`;
      writeFileSync(partial, JSON.stringify(purchase), { mode: 0o600, flush: true });
      renameSync(partial, pathOf(id));
    },

    forget(id: string): void {
      rmSync(pathOf(id), { force: true });
    },

    /** The token of the same server that was bought for the nearest path, if one has not expired. */
    tokenFor(url: URL, now: number): KeptToken | undefined {
      const usable = served()
        .map(([, kept]) => kept)
        .filter(({ url: bought }) => new URL(bought).origin === url.origin)
        .filter(({ offer }) => tokenBounds(offer.token).expiresAt > now);
      const nearness = (kept: KeptToken) => sharedSegments(new URL(kept.url).pathname, url.pathname);
      return usable.sort((a, b) => nearness(b) - nearness(a) || b.at - a.at)[0];
    },
  };
}

export type Purchases = ReturnType<typeof purchases>;

/** Identifies a request by everything that is sent. */
export function purchaseId({ method, url, headers, body }: WebRequest): string {
  const sent = [method, url.href, Object.entries(headers).sort(), digestOf(body)];
  return createHash('sha256').update(JSON.stringify(sent)).digest('hex');
}

/** The SHA-256 of a body, as `Digest` fields write it. */
export function digestOf(body: Uint8Array | undefined): string {
  return `sha-256=:${createHash('sha256')
    .update(body ?? '')
    .digest('base64')}:`;
}

function isPurchase(value: unknown): value is Purchase {
  return isObject(value) && isObject(value.offer) && typeof value.url === 'string' && URL.canParse(value.url);
}

function isKept(purchase: Purchase): purchase is KeptToken {
  return purchase.state === 'served' && purchase.offer.scheme === 'L402' && purchase.preimage !== null;
}

function sharedSegments(one: string, other: string): number {
  const [a, b] = [one.split('/'), other.split('/')];
  const different = a.findIndex((segment, at) => segment !== b[at]);
  return different === -1 ? a.length : different;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cannot('read', folder, error);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cannot('read', path, error);
  }
}

function cannot(verb: string, path: string, error: unknown): CliError {
  const { code } = error as NodeJS.ErrnoException;
  return new CliError(`Cannot ${verb} ${path} (${code}).`, { exit: exitCodes.failed, cause: error });
}
