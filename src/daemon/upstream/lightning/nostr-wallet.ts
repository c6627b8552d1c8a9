import { WebSocket } from 'ws';
import { orAborted } from '../../../shared/async/when-aborted.ts';
import { listOf } from '../../../shared/json/json-object.ts';
import { timeLimit, type World, within } from '../../base/world.ts';
import { BackendFailure } from '../../features/lightning/backend.ts';
import { type Json, objectOf, parseObject, textOf } from '../json.ts';
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
  /** At least one, in the order in which they are tried. */
  relays: readonly string[];
  secretKey: Uint8Array;
}

type NostrWorld = Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;

const kinds = { info: 13194, request: 23194, response: 23195, auth: 22242 } as const;
const messageBytesMax = 1024 * 1024;
/** By how much the clocks of the wallet and this machine may differ. Wallets do not carry out requests that are older. */
const clockSeconds = 60 * 60;
/** Above this, the clock of this machine is wrong: some wallets refuse requests that are a minute old. */
const clockToleranceSeconds = 30;
/** For the connection and the first answers of a relay. */
const openTimeoutMs = 4_000;
/** How long to wait for the relay to confirm that it passes on answers. */
const confirmTimeoutMs = 1_000;
const closeTimeoutMs = 1_000;
/** After so long without a message, a connection may have been cut off without notice. */
const silenceMaxMs = 60_000;
const reasonMax = 200;

/** A wallet's answer: a result, or the code of its refusal and what it says about that. */
export type WalletAnswer = { result: Json } | { refusal: string; why: string };

interface AskOptions {
  /** For the wallet's answer; a connection has limits of its own. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/**
 * A connection to a wallet over Nostr relays (NIP-47), of which it uses one at a time. It is opened by the first request, and
 * again when it broke or was silent; then with the next relay. A request whose connection breaks fails: whether the wallet
 * carried it out is then not known.
 */
export class NostrWallet {
  readonly #connection: WalletConnection;
  readonly #world: NostrWorld;
  /** All that are not closed. */
  readonly #sessions = new Set<Session>();
  #current: Session | undefined;
  #opening: Promise<Session> | undefined;
  /** The index of the relay to try first. */
  #first = 0;
  #isClosed = false;

  constructor(connection: WalletConnection, world: NostrWorld) {
    this.#connection = connection;
    this.#world = world;
  }

  /** Fails with a BackendFailure. Aborting ends the wait, not what the wallet does. */
  async ask(method: string, params: Json, { timeoutMs, signal }: AskOptions): Promise<WalletAnswer> {
    const asked = signal ?? new AbortController().signal;
    const session = await orAborted(this.#session(), asked, stopped);
    const limit = timeLimit(this.#world, timeoutMs);
    try {
      return await session.ask(method, params, AbortSignal.any([asked, limit.signal]));
    } finally {
      if (limit.signal.aborted) this.#leave(session);
      limit.clear();
    }
  }

  /** How the clock of this machine differs from the relay's, as a sentence; undefined if it does not, or the relay did not say. */
  clockProblem(): string | undefined {
    return this.#current?.clockProblem();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#sessions].map((session) => session.close()));
  }

  async #session(): Promise<Session> {
    if (this.#current?.isUsable) return this.#current;
    this.#current?.retire();
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return await this.#opening;
  }

  /** Opens a session with the first relay that answers. */
  async #open(): Promise<Session> {
    const { relays } = this.#connection;
    const failures: BackendFailure[] = [];
    for (const tried of relays.keys()) {
      const index = (this.#first + tried) % relays.length;
      if (this.#isClosed) throw stopped();
      const session = new Session(relays[index] ?? '', this.#connection, this.#world);
      this.#sessions.add(session);
      void session.closed.then(() => this.#sessions.delete(session));
      try {
        await session.open();
        this.#first = index;
        this.#current = session;
        return session;
      } catch (error) {
        void session.close();
        if (!(error instanceof BackendFailure)) throw error;
        failures.push(error);
      }
    }
    throw new BackendFailure('unreachable', failures.map(({ message }) => message).join(' '));
  }

  /** The wallet may be connected to another relay, or the connection be dead. */
  #leave(session: Session): void {
    session.retire();
    if (this.#current !== session) return;
    this.#current = undefined;
    this.#first = (this.#first + 1) % this.#connection.relays.length;
  }
}

/** A request that awaits its answer. */
interface Waiting extends PromiseWithResolvers<WalletAnswer> {
  /** Whether the relay confirmed it. */
  isTaken?: true;
}

/** One WebSocket to a relay. */
class Session {
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #relay: string;
  readonly #connection: WalletConnection;
  readonly #world: NostrWorld;
  readonly #waiting = new Map<string, Waiting>();
  readonly #connected = Promise.withResolvers<void>();
  readonly #info = Promise.withResolvers<NostrEvent | undefined>();
  readonly #subscribed = Promise.withResolvers<void>();
  /** By subscription or event: what is sent again if the relay wants to know first who sends it (NIP-42). */
  readonly #repeatable = new Map<string, readonly unknown[]>();
  readonly #refused: (readonly unknown[])[] = [];
  #encryption: Encryption | undefined;
  #speaksNip44 = false;
  /** Whether it is another than the wallet was thought to support. */
  #isOtherEncryption = false;
  #challenge: string | undefined;
  #authId: string | undefined;
  #isAuthenticated = false;
  #isRetired = false;
  #failure: BackendFailure | undefined;
  /** The latest reason that the relay gave. */
  #reason = '';
  #heardAt: { now: number; elapsed: number };
  /** By how much the clock of this machine is ahead of the relay's. */
  #aheadMs = 0;

  constructor(relay: string, connection: WalletConnection, world: NostrWorld) {
    this.#relay = relay;
    this.#connection = connection;
    this.#world = world;
    this.#heardAt = { now: world.now(), elapsed: world.elapsed() };
    for (const { promise } of [this.#connected, this.#info, this.#subscribed]) promise.catch(() => {});
    const socket = new WebSocket(relay, { maxPayload: messageBytesMax, perMessageDeflate: false });
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    socket.on('upgrade', ({ headers }) => {
      const theirs = Date.parse(headers.date ?? '');
      if (!Number.isNaN(theirs)) this.#aheadMs = world.now() - theirs;
    });
    socket.on('open', () => this.#connected.resolve());
    socket.on('message', (data, isBinary) => this.#read(isBinary ? undefined : String(data)));
    socket.on('ping', () => this.#hear());
    socket.on('error', () => this.#fail(this.#lost()));
    socket.on('close', () => {
      this.#fail(this.#lost());
      resolve();
    });
  }

  /** Fails with a BackendFailure if the relay does not answer in time. */
  async open(): Promise<void> {
    const limit = timeLimit(this.#world, openTimeoutMs);
    try {
      const info = await orAborted(this.#subscribe(), limit.signal, () =>
        this.#failureOf('did not answer in time'),
      );
      this.#encryption = this.#encryptionOf(info);
    } finally {
      limit.clear();
    }
    // Relays that want to know who asks often do so for answers only.
    await within(this.#world, this.#subscribed.promise, confirmTimeoutMs);
    if (this.#failure) throw this.#failure;
    this.#hear();
  }

  get isUsable(): boolean {
    if (this.#isRetired || this.#failure || this.#socket.readyState !== WebSocket.OPEN) return false;
    const { now, elapsed } = this.#heardAt;
    // A machine that sleeps may stop either clock.
    const silentMs = Math.max(Math.abs(this.#world.now() - now), this.#world.elapsed() - elapsed);
    return silentMs <= silenceMaxMs;
  }

  async ask(method: string, params: Json, over: AbortSignal): Promise<WalletAnswer> {
    const { secretKey, walletKey } = this.#connection;
    const createdAt = Math.floor(this.#world.now() / 1000);
    const event = signEvent(
      {
        kind: kinds.request,
        created_at: createdAt,
        tags: [
          ['p', walletKey],
          ['expiration', String(createdAt + clockSeconds)],
          ...(this.#speaksNip44 ? [['encryption', 'nip44_v2']] : []),
        ],
        content: this.#encryption?.encrypt(JSON.stringify({ method, params })) ?? '',
      },
      secretKey,
    );
    const waiting: Waiting = Promise.withResolvers<WalletAnswer>();
    this.#waiting.set(event.id, waiting);
    this.#sendRepeatable(event.id, 'EVENT', event);
    let answer: WalletAnswer;
    try {
      answer = await orAborted(waiting.promise, over, () => this.#late(waiting));
    } finally {
      this.#waiting.delete(event.id);
      this.#repeatable.delete(event.id);
      this.#closeIfDone();
    }
    // A relay may have lost the event that says what the wallet supports. Nothing was done.
    const isOther = 'refusal' in answer && answer.refusal === 'UNSUPPORTED_ENCRYPTION';
    if (!isOther || this.#isOtherEncryption || !this.isUsable) return answer;
    this.#isOtherEncryption = true;
    this.#encryption = this.#encryptionBy(!this.#speaksNip44);
    return await this.ask(method, params, over);
  }

  clockProblem(): string | undefined {
    const seconds = Math.round(Math.abs(this.#aheadMs) / 1000);
    if (seconds <= clockToleranceSeconds) return undefined;
    const by = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
    const { host } = new URL(this.#relay);
    return `The clock of this machine is ${by} ${this.#aheadMs > 0 ? 'ahead of' : 'behind'} that of the relay ${host}.`;
  }

  /** Takes no more requests, and closes once those that it sent have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfDone();
  }

  /** Ends what waits. Does not wait for the relay longer than a second. */
  async close(): Promise<void> {
    this.#fail(this.#lost());
    this.#socket.close();
    await within(this.#world, this.closed, closeTimeoutMs);
    this.#socket.terminate();
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#waiting.size === 0) void this.close();
  }

  /** Returns the wallet's information event, if the relay has it. */
  async #subscribe(): Promise<NostrEvent | undefined> {
    await this.#connected.promise;
    const { walletKey, secretKey } = this.#connection;
    this.#sendRepeatable('info', 'REQ', 'info', { kinds: [kinds.info], authors: [walletKey], limit: 1 });
    const since = Math.floor(this.#world.now() / 1000) - clockSeconds;
    const answers = { kinds: [kinds.response], authors: [walletKey], '#p': [publicKeyOf(secretKey)], since };
    this.#sendRepeatable('answers', 'REQ', 'answers', answers);
    return await this.#info.promise;
  }

  /** The information event lists what the wallet supports; without a list it supports only NIP-04. */
  #encryptionOf(info: NostrEvent | undefined): Encryption {
    const [, ...values] = info?.tags.find(([name]) => name === 'encryption') ?? [];
    const names = values.join(' ').split(/[\s,]+/);
    return this.#encryptionBy(names.includes('nip44_v2'));
  }

  #encryptionBy(isNip44: boolean): Encryption {
    const { secretKey, walletKey } = this.#connection;
    this.#speaksNip44 = isNip44;
    const make = isNip44 ? nip44 : nip04;
    return make(secretKey, walletKey, (count) => this.#world.randomBytes(count));
  }

  #sendRepeatable(name: string, ...message: unknown[]): void {
    this.#repeatable.set(name, message);
    this.#send(message);
  }

  #send(message: readonly unknown[]): void {
    // What cannot be sent fails with the connection.
    this.#socket.send(JSON.stringify(message), () => {});
  }

  #hear(): void {
    this.#heardAt = { now: this.#world.now(), elapsed: this.#world.elapsed() };
  }

  #read(data: string | undefined): void {
    this.#hear();
    if (data === undefined) return;
    const [type, subject, detail, reason] = listOf(parseObject(`{"message":${data}}`)?.message);
    if (type === 'EVENT') this.#receive(subject, detail as NostrEvent);
    else if (type === 'EOSE') this.#readEnd(subject);
    else if (type === 'OK') this.#readOk(String(subject), detail, reason);
    else if (type === 'CLOSED') this.#readRefusal(String(subject), detail);
    else if (type === 'NOTICE') this.#reason = shown(subject);
    else if (type === 'AUTH' && typeof subject === 'string') this.#authenticate(subject);
  }

  /** The relay has no (further) stored events. */
  #readEnd(subscription: unknown): void {
    if (subscription === 'info') this.#info.resolve(undefined);
    else if (subscription === 'answers') this.#subscribed.resolve();
  }

  #readOk(id: string, isTaken: unknown, reason: unknown): void {
    const waiting = this.#waiting.get(id);
    if (isTaken !== true) this.#readRefusal(id, reason);
    else if (id === this.#authId) {
      this.#isAuthenticated = true;
      for (const message of this.#refused.splice(0)) this.#send(message);
    } else if (waiting) waiting.isTaken = true;
  }

  /** Refusals of a subscription, a request, or the proof of who sends them. */
  #readRefusal(name: string, given: unknown): void {
    const reason = shown(given);
    const repeatable = this.#repeatable.get(name);
    this.#reason = reason;
    if (reason.startsWith('auth-required:') && repeatable) {
      this.#repeatable.delete(name);
      if (this.#isAuthenticated) this.#send(repeatable);
      else this.#refused.push(repeatable);
      return;
    }
    const failure = this.#failureOf('rejected the request');
    const waiting = this.#waiting.get(name);
    if (waiting) waiting.reject(failure);
    else if (name === this.#authId || name === 'info' || name === 'answers') this.#fail(failure);
  }

  /** Proves who sends the requests. Source: NIP-42. */
  #authenticate(challenge: string): void {
    if (challenge === this.#challenge) return;
    this.#challenge = challenge;
    const tags = [
      ['relay', this.#relay],
      ['challenge', challenge],
    ];
    const created_at = Math.floor(this.#world.now() / 1000);
    const event = signEvent({ kind: kinds.auth, created_at, tags, content: '' }, this.#connection.secretKey);
    this.#isAuthenticated = false;
    this.#authId = event.id;
    this.#send(['AUTH', event]);
  }

  #receive(subscription: unknown, event: NostrEvent): void {
    if (event?.pubkey !== this.#connection.walletKey) return;
    const isInfo = subscription === 'info' && event.kind === kinds.info;
    const waiting = this.#answeredBy(event);
    if ((!isInfo && waiting === undefined) || !isAuthentic(event)) return;
    if (isInfo) this.#info.resolve(event);
    if (waiting === undefined) return;
    try {
      const answer = parseObject(this.#decrypt(event.content));
      const error = objectOf(answer?.error);
      const result = objectOf(answer?.result);
      const code = textOf(error?.code);
      if (error && (code !== undefined || result === undefined))
        waiting.resolve({ refusal: code?.toUpperCase() ?? 'OTHER', why: shown(error.message) });
      else if (result) waiting.resolve({ result });
      else waiting.reject(withoutResult(shown(answer?.error)));
    } catch {
      waiting.reject(new BackendFailure('unreachable', 'The answer of the wallet cannot be decrypted.'));
    }
  }

  /** The request that an event, which may have any form, answers. */
  #answeredBy({ kind, tags }: NostrEvent): Waiting | undefined {
    if (kind !== kinds.response) return undefined;
    const tag = listOf(tags).find((each) => Array.isArray(each) && each[0] === 'e') as string[] | undefined;
    return this.#waiting.get(tag?.[1] ?? '');
  }

  /** Some wallets answer in another encryption than they were asked in. */
  #decrypt(content: string): string {
    const { secretKey, walletKey } = this.#connection;
    const make = content.includes('?iv=') ? nip04 : nip44;
    return make(secretKey, walletKey, (count) => this.#world.randomBytes(count)).decrypt(content);
  }

  #fail(failure: BackendFailure): void {
    this.#failure ??= failure;
    for (const { reject } of [this.#connected, this.#info, this.#subscribed, ...this.#waiting.values()])
      reject(this.#failure);
  }

  #lost(): BackendFailure {
    return this.#failureOf('cannot be reached');
  }

  #late({ isTaken }: Waiting): BackendFailure {
    if (!isTaken) return this.#failureOf('did not confirm the request in time');
    const unknown = 'Check that it is online, and the clock of this machine and of the wallet.';
    const advice = this.clockProblem() ?? unknown;
    return new BackendFailure('unreachable', `The wallet did not answer in time. ${advice}`);
  }

  #failureOf(what: string): BackendFailure {
    const reason = this.#reason === '' ? '' : `: ${this.#reason}`;
    return new BackendFailure('unreachable', `The relay ${new URL(this.#relay).host} ${what}${reason}.`);
  }
}

/** A relay's text in one line, for people. */
function shown(text: unknown): string {
  const line = (textOf(text) ?? '').replace(/[\p{C}\s]+/gu, ' ').trim();
  return line.slice(0, reasonMax).toWellFormed().replace(/\.$/, '');
}

function withoutResult(why: string): BackendFailure {
  const reason = why === '' ? '' : `: ${why}`;
  return new BackendFailure('unreachable', `The wallet sent an answer without a result${reason}.`);
}

const stopped = () => new BackendFailure('unreachable', 'The request to the wallet was cancelled.');
