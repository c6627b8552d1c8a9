import { describe, expect, test } from 'vitest';
import {
  createMnemonic,
  mnemonicFault,
  nodeKeyOf,
  normalizeMnemonic,
} from '../../../../src/daemon/features/lightning/mnemonic.ts';

const zeros = `${'abandon '.repeat(11)}about`;

describe('a recovery phrase', () => {
  test('has 12 words of which 128 bits of entropy are recovered', () => {
    expect(createMnemonic((count) => new Uint8Array(count))).toBe(zeros);
    expect(createMnemonic((count) => new Uint8Array(count).fill(255))).toBe(`${'zoo '.repeat(11)}wrong`);
  });

  test('is read whatever its case and white space', () => {
    expect(normalizeMnemonic(`  ${zeros.toUpperCase().replaceAll(' ', '\n\t')} `)).toBe(zeros);
    expect(mnemonicFault(zeros)).toBeUndefined();
    expect(mnemonicFault(`${'abandon '.repeat(23)}art`)).toBeUndefined();
  });

  test.each([
    [zeros.replace('about', 'abuot'), 'Word 12 is not in the BIP 39 word list.'],
    [zeros.replace('abandon', 'secretword'), 'Word 1 is not in the BIP 39 word list.'],
    [`x abandon y ${zeros}`, 'Words 1, 3 are not in the BIP 39 word list.'],
    ['abandon '.repeat(11).trim(), 'The phrase has 11 words; it must have 12, 15, 18, 21 or 24.'],
    [
      'abandon '.repeat(12).trim(),
      'The checksum does not match: one of the words is wrong, or they are in the wrong order.',
    ],
  ])('is rejected: %s', (phrase, fault) => {
    expect(mnemonicFault(phrase)).toBe(fault);
  });

  test('gives the same node key as LDK', async () => {
    const { privateKey, publicKey } = await nodeKeyOf(zeros);
    expect(privateKey).toHaveLength(32);
    expect(publicKey).toBe('027cf7c81dc777e46572ff964f17650a0f6f783319fcc140fb9a69425e2fbdc93c');
  });
});
