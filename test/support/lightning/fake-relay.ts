import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { isAuthentic, type NostrEvent } from '../../../src/daemon/upstream/lightning/nostr.ts';

interface Filter {
  kinds?: number[];
  authors?: string[];
  since?: number;
  [tag: `#${string}`]: string[];
}

/** How a relay treats its clients. */
export interface RelayManners {
  /** Says nothing. */
  isSilent?: boolean;
  /** Asks for NIP-42 on these, and says so with the challenge before or after its refusal. */
  asksWho?: { on: readonly ('REQ' | 'EVENT')[]; challenge: 'at once' | 'after the refusal' };
  /** Closes subscriptions, or rejects events, with this reason. */
  refuses?: { on: 'REQ' | 'EVENT'; reason: string };
  /** Says this when a client connects. */
  notice?: string;
  /** States the time in its handshake, by which its clock is ahead. */
  aheadSeconds?: number;
}

export interface FakeRelay {
  url: string;
  /** How it treats all but the wallet, from the next connection on. */
  manners: RelayManners;
  /** How many are connected, without the wallet. One that left while it was cut off is, until something is sent to it. */
  connected(): number;
  /** How many connected, without the wallet. */
  clients(): number;
  /** Cuts off all connections but the wallet's without notice: nothing comes through, and they stay open. */
  freeze(): void;
  /** Every event that was published, in order. */
  events: NostrEvent[];
  /** Closes all connections but the first, which is the wallet's. */
  disconnect(): void;
  /** Sends a text to all connections but the wallet's. */
  broadcast(text: string): void;
  close(): Promise<void>;
}

/** A relay of Nostr (NIP-01) on a free port of loopback, which the caller must close. */
export async function startFakeRelay(): Promise<FakeRelay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const events: NostrEvent[] = [];
  const followers = new Set<(event: NostrEvent) => void>();
  server.on('headers', (headers) => {
    const { aheadSeconds } = relay.manners;
    if (aheadSeconds !== undefined)
      headers.push(`Date: ${new Date(Date.now() + aheadSeconds * 1000).toUTCString()}`);
  });
  let connections = 0;
  const relay = { manners: {} as RelayManners };
  server.on('connection', (socket) => {
    connections += 1;
    const { isSilent, asksWho, refuses, notice } = connections === 1 ? {} : relay.manners;
    if (isSilent) return socket.pause();
    const subscriptions = new Map<string, Filter[]>();
    const send = (...message: unknown[]) => socket.send(JSON.stringify(message));
    const challenge = `challenge-${connections}`;
    let isKnown = false;
    const ask = () => send('AUTH', challenge);
    if (notice !== undefined) send('NOTICE', notice);
    if (asksWho?.challenge === 'at once') ask();
    const refuse = (type: string, id: string): boolean => {
      const mustAuthenticate = !isKnown && asksWho?.on.some((each) => each === type);
      const reason = mustAuthenticate
        ? 'auth-required: who are you?'
        : refuses?.on === type
          ? refuses.reason
          : undefined;
      if (reason === undefined) return false;
      if (type === 'REQ') send('CLOSED', id, reason);
      else send('OK', id, false, reason);
      if (mustAuthenticate && asksWho?.challenge === 'after the refusal') ask();
      return true;
    };
    const isProof = ({ kind, tags, ...event }: NostrEvent) =>
      kind === 22242 &&
      tags.some(([name, value]) => name === 'challenge' && value === challenge) &&
      tags.some(([name, value]) => name === 'relay' && URL.parse(value ?? '')?.host === host()) &&
      isAuthentic({ kind, tags, ...event });
    const show = (event: NostrEvent) => {
      for (const [id, filters] of subscriptions)
        if (filters.some((filter) => matches(filter, event))) send('EVENT', id, event);
    };
    followers.add(show);
    socket.on('close', () => followers.delete(show));
    socket.on('message', (data) => {
      const [type, subject, ...rest] = JSON.parse(String(data)) as [string, unknown, ...Filter[]];
      if (type === 'AUTH') {
        const event = subject as NostrEvent;
        isKnown = isProof(event);
        send('OK', event.id, isKnown, isKnown ? '' : 'invalid: no proof');
      } else if (type === 'EVENT') {
        const event = subject as NostrEvent;
        if (refuse(type, event.id)) return;
        events.push(event);
        send('OK', event.id, true, '');
        for (const follower of followers) follower(event);
      } else if (type === 'REQ') {
        if (refuse(type, String(subject))) return;
        subscriptions.set(String(subject), rest);
        for (const event of events)
          if (rest.some((filter) => matches(filter, event))) send('EVENT', subject, event);
        send('EOSE', subject);
      } else if (type === 'CLOSE') subscriptions.delete(String(subject));
    });
  });
  const disconnect = () => {
    for (const socket of [...server.clients].slice(1)) socket.terminate();
  };
  const broadcast = (text: string) => {
    for (const socket of [...server.clients].slice(1)) socket.send(text);
  };
  const close = async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  };
  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const freeze = () => {
    for (const socket of [...server.clients].slice(1)) socket.pause();
  };
  return Object.assign(relay, {
    url: `ws://${host()}`,
    connected: () => server.clients.size - 1,
    clients: () => connections - 1,
    freeze,
    events,
    disconnect,
    broadcast,
    close,
  });
}

function matches({ kinds, authors, since, ...others }: Filter, event: NostrEvent): boolean {
  const tags = Object.entries(others).filter(([name]) => name.startsWith('#'));
  return (
    (kinds?.includes(event.kind) ?? true) &&
    (authors?.includes(event.pubkey) ?? true) &&
    (since === undefined || event.created_at >= since) &&
    tags.every(([name, values]) =>
      event.tags.some(([tag, value = '']) => `#${tag}` === name && (values as string[]).includes(value)),
    )
  );
}
