import { createHash } from 'node:crypto';

/** A Bitcoin transaction, as far as an Electrum server needs to know it. Ids are hexadecimal, in display order. */
export interface Transaction {
  txid: string;
  inputs: { txid: string; index: number }[];
  outputs: { sats: bigint; script: Buffer }[];
  raw: Buffer;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

export const doubleSha256 = (bytes: Uint8Array) => sha256(sha256(bytes));

/** A hash in display order: reversed, in hexadecimal. */
export const displayed = (hash: Uint8Array) => Buffer.from(hash).reverse().toString('hex');

/** The inverse of `displayed`. */
export const undisplayed = (hex: string) => Buffer.from(hex, 'hex').reverse();

/** How the Electrum protocol names an output script. */
export const scriptHash = (script: Uint8Array) => displayed(sha256(script));

/** The status of a script's history. Source: the Electrum protocol, "Status". */
export const statusOf = (history: readonly { txid: string; height: number }[]) =>
  history.length === 0
    ? null
    : sha256(Buffer.from(history.map(({ txid, height }) => `${txid}:${height}:`).join(''))).toString('hex');

/** Parses a transaction, with or without witnesses. */
export function parseTransaction(raw: Buffer): Transaction {
  let at = 4;
  const take = (count: number) => {
    at += count;
    return raw.subarray(at - count, at);
  };
  const count = () => {
    const first = take(1).readUInt8();
    if (first < 0xfd) return first;
    return first === 0xfd ? take(2).readUInt16LE() : take(4).readUInt32LE();
  };
  const times = <T>(repetitions: number, read: () => T) => Array.from({ length: repetitions }, read);
  const hasWitness = raw[4] === 0 && raw[5] === 1;
  if (hasWitness) at += 2;
  const bodyStart = at;
  const inputs = times(count(), () => {
    const input = { txid: displayed(take(32)), index: take(4).readUInt32LE() };
    take(count());
    take(4);
    return input;
  });
  const outputs = times(count(), () => ({
    sats: take(8).readBigUInt64LE(),
    script: Buffer.from(take(count())),
  }));
  const body = raw.subarray(bodyStart, at);
  const withoutWitness = Buffer.concat([raw.subarray(0, 4), body, raw.subarray(-4)]);
  return { txid: displayed(doubleSha256(withoutWitness)), inputs, outputs, raw };
}

interface SimpleTransaction {
  /** The txid and index of the output that is spent. */
  spends: Buffer;
  inputScript?: Buffer;
  sats: bigint;
  script: Buffer;
}

/** A transaction with one input and one output. */
export function simpleTransaction({
  spends,
  inputScript = Buffer.alloc(0),
  sats,
  script,
}: SimpleTransaction) {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(sats);
  const short = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const version = Buffer.from('01000000', 'hex');
  const one = Buffer.from([1]);
  const sequence = Buffer.from('ffffffff', 'hex');
  return parseTransaction(
    Buffer.concat([
      ...[version, one, spends, short(inputScript), sequence],
      ...[one, value, short(script), Buffer.alloc(4)],
    ]),
  );
}

/** The levels of a Merkle tree, from the leaves to the root, as raw hashes. */
function merkleLevels(txids: readonly string[]): Buffer[][] {
  let level = txids.map(undisplayed);
  const levels = [level];
  while (level.length > 1) {
    const below = level;
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, at) =>
      doubleSha256(Buffer.concat([nodeAt(below, 2 * at), nodeAt(below, 2 * at + 1)])),
    );
    levels.push(level);
  }
  return levels;
}

/** The last node of a level stands for one that is missing. */
const nodeAt = (level: readonly Buffer[], at: number): Buffer =>
  level[at] ?? level.at(-1) ?? Buffer.alloc(32);

export const merkleRoot = (txids: readonly string[]) => nodeAt(merkleLevels(txids).at(-1) ?? [], 0);

/** The hashes that prove that a transaction is in a block. */
export const merkleBranch = (txids: readonly string[], position: number) =>
  merkleLevels(txids)
    .slice(0, -1)
    .map((level, height) => displayed(nodeAt(level, (position >> height) ^ 1)));
