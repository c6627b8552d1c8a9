import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { RegtestChain } from './regtest-chain.ts';
import { merkleBranch, statusOf } from './transactions.ts';

export interface ElectrumServer {
  port: number;
  /** Tells the connected wallets what changed in the chain. */
  announce(): void;
  close(): Promise<void>;
}

interface Client {
  socket: Socket;
  followsHeaders: boolean;
  /** The last status sent of each script. */
  scripts: Map<string, string | null>;
}

// biome-ignore lint/suspicious/noExplicitAny: parameters are what the protocol says of each method.
type Method = (client: Client, ...params: any[]) => unknown;

const headersMax = 2016;

/** Serves a chain to Electrum wallets, on loopback. Source: the Electrum protocol, version 1.4. */
export async function startElectrumServer(chain: RegtestChain): Promise<ElectrumServer> {
  const clients = new Set<Client>();
  const methods = methodsOf(chain, announce);

  function announce() {
    for (const client of clients) {
      if (client.followsHeaders) notify(client, 'blockchain.headers.subscribe', tip(chain));
      for (const [hash, before] of client.scripts) {
        const status = statusOf(chain.history(hash));
        if (status === before) continue;
        client.scripts.set(hash, status);
        notify(client, 'blockchain.scripthash.subscribe', hash, status);
      }
    }
  }

  const answer = (client: Client, { id, method, params = [] }: Request) => {
    try {
      const run = methods[method];
      if (run === undefined) throw new Error(`unknown method ${method}`);
      return { jsonrpc: '2.0', id, result: run(client, ...params) ?? null };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: 1, message: (error as Error).message } };
    }
  };

  const server = createServer((socket) => {
    const client: Client = { socket, followsHeaders: false, scripts: new Map() };
    clients.add(client);
    socket.on('error', () => {}).on('close', () => clients.delete(client));
    createInterface({ input: socket }).on('line', (line) => {
      const asked = JSON.parse(line) as Request | Request[];
      send(client, Array.isArray(asked) ? asked.map((it) => answer(client, it)) : answer(client, asked));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    announce,
    async close() {
      for (const { socket } of clients) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Request {
  id: number;
  method: string;
  params?: unknown[];
}

const send = ({ socket }: Client, message: object) => socket.write(`${JSON.stringify(message)}\n`);
const notify = (client: Client, method: string, ...params: unknown[]) =>
  send(client, { jsonrpc: '2.0', method, params });

const tip = ({ blocks }: RegtestChain) => ({
  hex: blocks.at(-1)?.header.toString('hex'),
  height: blocks.length - 1,
});

function methodsOf(chain: RegtestChain, announce: () => void): Record<string, Method> {
  const txidsAt = (height: number) => chain.blocks[height]?.transactions.map(({ txid }) => txid) ?? [];
  return {
    'server.version': () => ['regtest', '1.4'],
    'server.ping': () => null,
    'server.banner': () => '',
    'server.donation_address': () => '',
    'server.peers.subscribe': () => [],
    'server.features': () => ({
      genesis_hash: chain.blocks[0]?.hash,
      protocol_min: '1.4',
      protocol_max: '1.4',
    }),
    'mempool.get_fee_histogram': () => [],
    'blockchain.estimatefee': () => 0.0001,
    'blockchain.relayfee': () => 0.00001,
    'blockchain.headers.subscribe': (client) => {
      client.followsHeaders = true;
      return tip(chain);
    },
    'blockchain.block.header': (_client, height: number) => chain.blocks[height]?.header.toString('hex'),
    'blockchain.block.headers': (_client, start: number, count: number) => {
      const found = chain.blocks.slice(start, start + Math.min(count, headersMax));
      const hex = found.map(({ header }) => header.toString('hex')).join('');
      return { hex, count: found.length, max: headersMax };
    },
    'blockchain.scripthash.subscribe': (client, hash: string) => {
      const status = statusOf(chain.history(hash));
      client.scripts.set(hash, status);
      return status;
    },
    'blockchain.scripthash.unsubscribe': (client, hash: string) => client.scripts.delete(hash),
    'blockchain.scripthash.get_history': (_client, hash: string) =>
      chain
        .history(hash)
        .map(({ txid, height }) => ({ tx_hash: txid, height, ...(height === 0 && { fee: 200 }) })),
    'blockchain.scripthash.listunspent': (_client, hash: string) =>
      chain
        .unspent(hash)
        .map(({ txid, index, height, sats }) => ({ tx_hash: txid, tx_pos: index, height, value: sats })),
    'blockchain.transaction.get': (_client, txid: string) => {
      const found = chain.transaction(txid);
      if (found === undefined) throw new Error('No such mempool or blockchain transaction');
      return found.raw.toString('hex');
    },
    'blockchain.transaction.get_merkle': (_client, txid: string, height: number) => {
      const txids = txidsAt(height);
      const position = txids.indexOf(txid);
      if (position < 0) throw new Error('the block does not contain the transaction');
      return { block_height: height, merkle: merkleBranch(txids, position), pos: position };
    },
    'blockchain.transaction.id_from_pos': (_client, height: number, position: number, isProved: boolean) => {
      const txids = txidsAt(height);
      const txid = txids[position];
      if (txid === undefined) throw new Error('the block has no transaction at this position');
      return isProved ? { tx_hash: txid, merkle: merkleBranch(txids, position) } : txid;
    },
    'blockchain.transaction.broadcast': (_client, hex: string) => {
      const txid = chain.broadcast(Buffer.from(hex, 'hex'));
      setImmediate(announce);
      return txid;
    },
  };
}
