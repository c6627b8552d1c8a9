import { bech32 } from '@scure/base';
import { expect, test } from 'vitest';
import { readDestination } from '../../../../src/daemon/features/wallet/destinations.ts';

const invoice = 'lnbc20u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypq';
const lnurlOf = (url: string) => bech32.encode('lnurl', bech32.toWords(Buffer.from(url)), 2000);
const lnurl = lnurlOf('https://pay.example/u?id=1');
const service = (href: string, address?: string) => ({ service: new URL(href), address });
const asked = (text: string, amountMsat?: number) => ({ invoice: text, amountMsat });

test.each([
  [invoice, asked(invoice)],
  [`  lightning:${invoice}\n`, asked(invoice)],
  [`LIGHTNING://${invoice.toUpperCase()}`, asked(invoice.toUpperCase())],
  [`bitcoin:bc1qxy?amount=0.00002&label=Books&lightning=${invoice}`, asked(invoice, 2_000_000)],
  [
    `BITCOIN:BC1QXY?AMOUNT=1&LIGHTNING=${invoice.toUpperCase()}`,
    asked(invoice.toUpperCase(), 100_000_000_000),
  ],
  [`bitcoin:?lightning=${invoice}`, asked(invoice)],
  [`bitcoin:bc1qxy?lightning=${lnurl}`, service('https://pay.example/u?id=1')],
  [lnurl, service('https://pay.example/u?id=1')],
  [`lightning:${lnurl.toUpperCase()}`, service('https://pay.example/u?id=1')],
  ['lnurlp://pay.example/u', service('https://pay.example/u')],
  ['lnurlp:pay.example/u', service('https://pay.example/u')],
  [`https://shop.example/?lightning=${lnurl}`, service('https://pay.example/u?id=1')],
  ['Alice@Example.com', service('https://example.com/.well-known/lnurlp/alice', 'alice@example.com')],
  [
    'a+tag@example.com:8443',
    service('https://example.com:8443/.well-known/lnurlp/a+tag', 'a+tag@example.com:8443'),
  ],
  ['a@abc.onion', service('http://abc.onion/.well-known/lnurlp/a', 'a@abc.onion')],
])('%s is read', async (text, destination) => {
  expect(await readDestination(text)).toEqual(destination);
});

test.each([
  ['', 'is not a Lightning invoice'],
  ['hello', 'is not a Lightning invoice'],
  ['lnxy1abc', 'is not a Lightning invoice'],
  ['https://example.com/', 'is not a Lightning invoice'],
  ['https://example.com/?lightning=hello', 'is not a Lightning invoice'],
  [lnurl.replace(/.$/, 'q'), 'is not a Lightning invoice'],
  [lnurlOf('not a URL'), 'is not a Lightning invoice'],
  ['bitcoin:bc1qxy', 'has no Lightning invoice'],
  ['bitcoin:bc1qxy?lno=lno1abc', 'BOLT 12'],
  [`bitcoin:bc1qxy?amount=1e3&lightning=${invoice}`, 'has an amount that is not valid'],
  [`bitcoin:bc1qxy?amount=-1&lightning=${invoice}`, 'has an amount that is not valid'],
  ['bitcoin:bc1qxy?lightning=hello', 'is not a Lightning invoice'],
  ['lno1abc', 'BOLT 12'],
  ['lnurlw://pay.example/u', 'something else than a payment'],
  ['keyauth://pay.example/u', 'something else than a payment'],
  ['two@at@example.com', 'is not a Lightning invoice'],
  ['alice@example.com/../x', 'is not a Lightning invoice'],
])('%s is refused', async (text, sentence) => {
  expect(await readDestination(text)).toEqual({ fault: expect.stringContaining(sentence) });
});
