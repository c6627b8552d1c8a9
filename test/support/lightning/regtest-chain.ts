import { randomBytes } from 'node:crypto';
import { bech32, bech32m } from '@scure/base';
import {
  displayed,
  doubleSha256,
  merkleRoot,
  parseTransaction,
  scriptHash,
  simpleTransaction,
  type Transaction,
  undisplayed,
} from './transactions.ts';

export interface Block {
  header: Buffer;
  hash: string;
  transactions: Transaction[];
}

/** A block chain in memory. */
export interface RegtestChain {
  readonly blocks: readonly Block[];
  transaction(txid: string): Transaction | undefined;
  /** The transactions that concern a script, oldest first; `height` is 0 before they are in a block. */
  history(hash: string): { txid: string; height: number }[];
  unspent(hash: string): { txid: string; index: number; height: number; sats: number }[];
  /** Accepts a transaction. Fails if it spends what does not exist or is already spent. */
  broadcast(raw: Buffer): string;
  /** Gives an address coins from nowhere. */
  fund(address: string, sats: number): void;
  mine(count: number): void;
}

/** The genesis block of Bitcoin's regression test network. */
const genesisHeader = Buffer.from(
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000',
  'hex',
);
const easiestTarget = 0x207fffff;
const anyoneCanSpend = Buffer.from([0x51]);
const blockRewardSats = 5_000_000_000n;

/**
 * A chain for wallets that check headers, Merkle roots and double spends, as Electrum does. Scripts and time locks are
 * not checked.
 */
export function regtestChain(): RegtestChain {
  const genesis = { header: genesisHeader, hash: displayed(doubleSha256(genesisHeader)), transactions: [] };
  const blocks: Block[] = [genesis];
  const known = new Map<string, { transaction: Transaction; height: number }>();
  let waiting: Transaction[] = [];
  let time = Math.floor(Date.now() / 1000) - 86_400;

  const outputOf = ({ txid, index }: { txid: string; index: number }) =>
    known.get(txid)?.transaction.outputs[index];
  const isSpent = ({ txid, index }: { txid: string; index: number }) =>
    [...known.values()].some(({ transaction }) =>
      transaction.inputs.some((it) => it.txid === txid && it.index === index),
    );
  const add = (transaction: Transaction) => {
    known.set(transaction.txid, { transaction, height: 0 });
    waiting.push(transaction);
  };

  const mineOne = () => {
    const height = Buffer.alloc(4);
    height.writeUInt32LE(blocks.length);
    const reward = simpleTransaction({
      spends: Buffer.concat([Buffer.alloc(32), Buffer.from('ffffffff', 'hex')]),
      inputScript: Buffer.concat([Buffer.from([4]), height, randomBytes(4)]),
      sats: blockRewardSats,
      script: anyoneCanSpend,
    });
    const transactions = [reward, ...waiting];
    waiting = [];
    time = Math.max(time + 60, Math.floor(Date.now() / 1000) - 3600);
    const header = Buffer.alloc(80);
    header.writeUInt32LE(0x20000000, 0);
    undisplayed(blocks.at(-1)?.hash ?? '').copy(header, 4);
    merkleRoot(transactions.map(({ txid }) => txid)).copy(header, 36);
    header.writeUInt32LE(time, 68);
    header.writeUInt32LE(easiestTarget, 72);
    for (let nonce = 0; doubleSha256(header).readUInt8(31) >= 0x7f; nonce += 1)
      header.writeUInt32LE(nonce, 76);
    for (const transaction of transactions)
      known.set(transaction.txid, { transaction, height: blocks.length });
    blocks.push({ header, hash: displayed(doubleSha256(header)), transactions });
  };

  const concerns = (transaction: Transaction, hash: string) =>
    transaction.outputs.some(({ script }) => scriptHash(script) === hash) ||
    transaction.inputs.some((input) => {
      const output = outputOf(input);
      return output !== undefined && scriptHash(output.script) === hash;
    });

  const history = (hash: string) =>
    [...known.values()]
      .filter(({ transaction }) => concerns(transaction, hash))
      .map(({ transaction: { txid }, height }) => ({ txid, height }))
      .sort((one, other) => (one.height || Number.MAX_VALUE) - (other.height || Number.MAX_VALUE));

  return {
    blocks,
    transaction: (txid) => known.get(txid)?.transaction,
    history,
    unspent: (hash) =>
      history(hash).flatMap(({ txid, height }) =>
        (known.get(txid)?.transaction.outputs ?? []).flatMap(({ sats, script }, index) =>
          scriptHash(script) === hash && !isSpent({ txid, index })
            ? [{ txid, index, height, sats: Number(sats) }]
            : [],
        ),
      ),
    broadcast(raw) {
      const transaction = parseTransaction(raw);
      if (known.has(transaction.txid)) return transaction.txid;
      for (const input of transaction.inputs) {
        if (outputOf(input) === undefined || isSpent(input))
          throw new Error('bad-txns-inputs-missingorspent');
      }
      add(transaction);
      return transaction.txid;
    },
    fund(address, sats) {
      const spends = Buffer.concat([randomBytes(32), Buffer.alloc(4)]);
      add(simpleTransaction({ spends, sats: BigInt(sats), script: scriptOf(address) }));
    },
    mine(count) {
      for (let mined = 0; mined < count; mined += 1) mineOne();
    },
  };
}

/** The output script of a segregated witness address. */
function scriptOf(address: string): Buffer {
  const decoded = bech32.decodeUnsafe(address) ?? bech32m.decode(address as `${string}1${string}`);
  const [version = 0, ...program] = decoded.words;
  const bytes = bech32.fromWords(program);
  return Buffer.from([version === 0 ? 0 : 0x50 + version, bytes.length, ...bytes]);
}
