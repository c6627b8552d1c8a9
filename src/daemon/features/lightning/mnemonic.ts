import { HDKey } from '@scure/bip32';
import { entropyToMnemonic, mnemonicToSeedWebcrypto, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const lengths = [12, 15, 18, 21, 24];
const entropyBytes = 16;

/** Twelve words that stand for a new wallet (BIP 39). */
export function createMnemonic(randomBytes: (count: number) => Uint8Array): string {
  return entropyToMnemonic(randomBytes(entropyBytes), wordlist);
}

/** Words in lower case, separated by single spaces. */
export function normalizeMnemonic(text: string): string {
  return text.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
}

/** Why a normalised phrase is not valid: a sentence that gives positions but no words; undefined if it is valid. */
export function mnemonicFault(mnemonic: string): string | undefined {
  const words = mnemonic.split(' ');
  const known = new Set(wordlist);
  const unknown = words.flatMap((word, index) => (known.has(word) ? [] : [index + 1]));
  if (unknown.length === 1) return `Word ${unknown[0]} is not in the BIP 39 word list.`;
  if (unknown.length > 1) return `Words ${unknown.join(', ')} are not in the BIP 39 word list.`;
  if (!lengths.includes(words.length)) {
    return `The phrase has ${words.length} words; it must have ${lengths.slice(0, -1).join(', ')} or ${lengths.at(-1)}.`;
  }
  if (validateMnemonic(mnemonic, wordlist)) return undefined;
  return 'The checksum does not match: one of the words is wrong, or they are in the wrong order.';
}

/** The key of a Lightning node. */
export interface NodeKey {
  /** 32 bytes. */
  privateKey: Uint8Array;
  /** The node's id: the compressed public key in hexadecimal. */
  publicKey: string;
}

/**
 * Derives the key of a node as LDK does, so that every wallet based on it has the same id for the same phrase: the master
 * key of the phrase's BIP 32 tree is the seed of another tree, and the node's key is its `m/0'`.
 */
export async function nodeKeyOf(mnemonic: string): Promise<NodeKey> {
  const master = HDKey.fromMasterSeed(await mnemonicToSeedWebcrypto(mnemonic));
  const { privateKey, publicKey } = HDKey.fromMasterSeed(bytesOf(master.privateKey)).derive("m/0'");
  return { privateKey: bytesOf(privateKey), publicKey: Buffer.from(bytesOf(publicKey)).toString('hex') };
}

function bytesOf(key: Uint8Array | null): Uint8Array {
  if (key === null) throw new Error('the derived key is missing');
  return key;
}
