import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { NostrEvent } from '../../../src/daemon/upstream/lightning/nostr.ts';

interface Filter {
  kinds?: number[];
  authors?: string[];
  since?: number;
  [tag: `#${string}`]: string[];
}

export interface FakeRelay {
  url: string;
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
  server.on('connection', (socket) => {
    const subscriptions = new Map<string, Filter[]>();
    const send = (...message: unknown[]) => socket.send(JSON.stringify(message));
    const show = (event: NostrEvent) => {
      for (const [id, filters] of subscriptions)
        if (filters.some((filter) => matches(filter, event))) send('EVENT', id, event);
    };
    followers.add(show);
    socket.on('close', () => followers.delete(show));
    socket.on('message', (data) => {
      const [type, subject, ...rest] = JSON.parse(String(data)) as [string, unknown, ...Filter[]];
      if (type === 'EVENT') {
        const event = subject as NostrEvent;
        events.push(event);
        send('OK', event.id, true, '');
        for (const follower of followers) follower(event);
      } else if (type === 'REQ') {
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
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    disconnect,
    broadcast,
    close,
  };
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
