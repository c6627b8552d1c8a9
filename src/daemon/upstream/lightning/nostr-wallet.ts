import { orAborted } from '../../../shared/when-aborted.ts';
import { BackendFailure } from '../../features/lightning/backend.ts';
import type { World } from '../../world.ts';
import { type Json, listOf, objectOf, parseObject, textOf } from '../json.ts';
import {
  type Encryption,
  isAuthentic,
  type NostrEvent,
  nip04,
  nip44,
  publicKeyOf,
  signEvent,
} from './nostr.ts';

/** The parts of a connection string: `nostr+walletconnect://PUBKEY?relay=…&secret=…`. */
export interface WalletConnection {
  walletKey: string;
  relay: string;
  secretKey: Uint8Array;
}

const kinds = { info: 13194, request: 23194, response: 23195 } as const;
const messageBytesMax = 1024 * 1024;
/** After this, a wallet that receives a request late does not carry it out. */
const requestSeconds = 60;

/** A wallet's answer: a result, or the code of its refusal. */
export type WalletAnswer = { result: Json } | { refusal: string };

/**
 * A connection to a wallet over a Nostr relay (NIP-47). It is opened by the first request, and again when it broke. A
 * request whose connection breaks fails: whether the wallet carried it out is then not known.
 */
export class NostrWallet {
  readonly #connection: WalletConnection;
  readonly #world: Pick<World, 'now' | 'sleep' | 'randomBytes'>;
  #open: Promise<Session> | undefined;

  constructor(connection: WalletConnection, world: Pick<World, 'now' | 'sleep' | 'randomBytes'>) {
    this.#connection = connection;
    this.#world = world;
  }

  /** Fails with a BackendFailure. Aborting ends the wait, not what the wallet does. */
  async ask(
    method: string,
    params: Json,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined },
  ): Promise<WalletAnswer> {
    const over = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timeoutMs)]);
    const session = await orAborted(this.#session(), over, late);
    return await orAborted(session.ask(method, params), over, late);
  }

  async close(): Promise<void> {
    const session = await this.#open?.catch(() => undefined);
    session?.close();
  }

  async #session(): Promise<Session> {
    const current = await this.#open?.catch(() => undefined);
    if (current?.isOpen) return current;
    this.#open = Session.open(this.#connection, this.#world);
    return await this.#open;
  }
}

/** One WebSocket to the relay. */
class Session {
  readonly #socket: WebSocket;
  readonly #connection: WalletConnection;
  readonly #world: Pick<World, 'now' | 'randomBytes'>;
  readonly #waiting = new Map<string, PromiseWithResolvers<WalletAnswer>>();
  readonly #info = Promise.withResolvers<NostrEvent | undefined>();
  #encryption: Encryption | undefined;

  private constructor(
    socket: WebSocket,
    connection: WalletConnection,
    world: Pick<World, 'now' | 'randomBytes'>,
  ) {
    this.#socket = socket;
    this.#connection = connection;
    this.#world = world;
    socket.addEventListener('message', ({ data }) => this.#read(data));
    socket.addEventListener('close', () => this.#fail());
    socket.addEventListener('error', () => this.#fail());
  }

  static async open(
    connection: WalletConnection,
    world: Pick<World, 'now' | 'randomBytes'>,
  ): Promise<Session> {
    const socket = new WebSocket(connection.relay);
    const session = new Session(socket, connection, world);
    const opened = Promise.withResolvers<void>();
    socket.addEventListener('open', () => opened.resolve());
    socket.addEventListener('close', () => opened.reject(lost()));
    await opened.promise;
    const client = publicKeyOf(connection.secretKey);
    const { walletKey } = connection;
    session.#send('REQ', 'info', { kinds: [kinds.info], authors: [walletKey], limit: 1 });
    const since = Math.floor(world.now() / 1000) - requestSeconds;
    session.#send('REQ', 'answers', { kinds: [kinds.response], authors: [walletKey], '#p': [client], since });
    session.#encryption = session.#encryptionOf(await session.#info.promise);
    return session;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async ask(method: string, params: Json): Promise<WalletAnswer> {
    const { secretKey, walletKey } = this.#connection;
    const createdAt = Math.floor(this.#world.now() / 1000);
    const event = signEvent(
      {
        kind: kinds.request,
        created_at: createdAt,
        tags: [
          ['p', walletKey],
          ['expiration', String(createdAt + requestSeconds)],
          ...(this.#speaksNip44 ? [['encryption', 'nip44_v2']] : []),
        ],
        content: this.#encryption?.encrypt(JSON.stringify({ method, params })) ?? '',
      },
      secretKey,
    );
    const answer = Promise.withResolvers<WalletAnswer>();
    this.#waiting.set(event.id, answer);
    this.#send('EVENT', event);
    return await answer.promise.finally(() => this.#waiting.delete(event.id));
  }

  close(): void {
    this.#socket.close();
    this.#fail();
  }

  #speaksNip44 = false;

  /** The information event lists what the wallet supports; without a list it supports only NIP-04. */
  #encryptionOf(info: NostrEvent | undefined): Encryption {
    const { secretKey, walletKey } = this.#connection;
    const tag = info?.tags.find(([name]) => name === 'encryption')?.[1] ?? '';
    this.#speaksNip44 = tag.split(/\s+/).includes('nip44_v2');
    const make = this.#speaksNip44 ? nip44 : nip04;
    return make(secretKey, walletKey, (count) => this.#world.randomBytes(count));
  }

  #send(...message: unknown[]): void {
    this.#socket.send(JSON.stringify(message));
  }

  #read(data: unknown): void {
    if (typeof data !== 'string' || data.length > messageBytesMax) return;
    const [type, subject, detail, reason] = listOf(parseObject(`{"message":${data}}`)?.message);
    if (type === 'EVENT') this.#receive(subject, detail as NostrEvent);
    // The relay has no (further) stored events.
    else if (type === 'EOSE' && subject === 'info') this.#info.resolve(undefined);
    else if (type === 'OK' && detail === false) {
      const message = `The relay rejected the request: ${textOf(reason)?.slice(0, 200) ?? 'no reason'}.`;
      this.#waiting.get(String(subject))?.reject(new BackendFailure('unreachable', message));
    }
  }

  #receive(subscription: unknown, event: NostrEvent): void {
    if (event?.pubkey !== this.#connection.walletKey || !isAuthentic(event)) return;
    if (subscription === 'info' && event.kind === kinds.info) this.#info.resolve(event);
    const requestId = event.tags.find(([name]) => name === 'e')?.[1] ?? '';
    const waiting = this.#waiting.get(requestId);
    if (event.kind !== kinds.response || waiting === undefined) return;
    try {
      const answer = parseObject(this.#encryption?.decrypt(event.content) ?? '');
      const error = objectOf(answer?.error);
      const result = objectOf(answer?.result);
      if (error) waiting.resolve({ refusal: textOf(error.code) ?? 'OTHER' });
      else if (result) waiting.resolve({ result });
      else waiting.reject(new BackendFailure('unreachable', 'The wallet sent an answer without a result.'));
    } catch {
      waiting.reject(new BackendFailure('unreachable', 'The answer of the wallet cannot be decrypted.'));
    }
  }

  #fail(): void {
    this.#info.resolve(undefined);
    for (const { reject } of this.#waiting.values()) reject(lost());
  }
}

const lost = () => new BackendFailure('unreachable', 'The relay of the wallet cannot be reached.');

const late = () => new BackendFailure('unreachable', 'The wallet did not answer in time.');
