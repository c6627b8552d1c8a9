import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';
import { invoiceFor } from '../../../../src/daemon/features/wallet/invoice-requests.ts';
import { peerAddressProblem, publicLookup } from '../../../../src/daemon/reverse-proxy/address-guard.ts';
import { createNetwork, type Network } from '../../../../src/daemon/upstream/network.ts';
import { type FakeServer, startFakeServer } from '../../../support/lightning/fake-server.ts';
import { testCertificate } from '../../../support/test-certificate.ts';

/** The name of the service, which only these tests resolve to this machine. */
const name = 'gateway.test';
const metadata = JSON.stringify([
  ['text/plain', 'Books ☕'],
  ['text/identifier', `alice@${name}`],
]);
const sha256 = (text: string) => createHash('sha256').update(text).digest();

let server: FakeServer;
let network: Network;
let host: string;
/** What the service answers: to the first request, and to the one for an invoice. */
let terms: Record<string, unknown>;
let issue: (amountMsat: number) => Record<string, unknown>;
let answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
let seen: string[];

const invoiceOver = (amountMsat: number, description: string | { hash: Uint8Array }) =>
  encodeInvoice(
    {
      network: 'regtest',
      amountMsat,
      timestamp: Math.floor(Date.now() / 1000),
      expirySeconds: 600,
      paymentHash: randomBytes(32),
      paymentSecret: randomBytes(32),
      description,
      features: [8, 14, 17],
    },
    new Uint8Array(32).fill(7),
  );

beforeAll(async () => {
  server = await startFakeServer(
    async (request, response) => {
      seen.push(request.url ?? '');
      if (answer) return answer(request, response);
      const { pathname, searchParams } = new URL(request.url ?? '', 'https://x');
      const body = pathname === '/callback' ? issue(Number(searchParams.get('amount'))) : terms;
      response.end(JSON.stringify(body));
    },
    { tls: testCertificate },
  );
  host = `${name}:${new URL(server.url).port}`;
  const guarded = publicLookup();
  network = createNetwork({
    certificate: testCertificate.cert,
    publicLookup(hostname, options, callback) {
      if (hostname !== name) return guarded(hostname, options, callback);
      return options.all
        ? callback(null, [{ address: '127.0.0.1', family: 4 }])
        : callback(null, '127.0.0.1', 4);
    },
  });
});

afterAll(async () => {
  await network.close();
  await server.close();
});

beforeEach(() => {
  seen = [];
  answer = undefined;
  terms = {
    tag: 'payRequest',
    callback: `https://${host}/callback?id=1`,
    minSendable: 2000,
    maxSendable: 500_000,
    commentAllowed: 5,
    metadata,
  };
  issue = (amountMsat) => ({ pr: invoiceOver(amountMsat, { hash: sha256(metadata) }), routes: [] });
});

const request = (more: { amountSats?: number; comment?: string; destination?: string } = {}) =>
  invoiceFor(
    {
      world: network,
      isPublic: (url) => peerAddressProblem(url, { mayBePrivate: false }, 1) === undefined,
    },
    { destination: `alice@${host}`, ...more },
  );
const failure = (sentence: RegExp) => ({ message: expect.stringMatching(sentence) });

describe('a Lightning address', () => {
  test('is asked for its terms, and with an amount for an invoice', async () => {
    expect(await request()).toMatchObject({
      invoice: null,
      payee: `alice@${host}`,
      service: { min: 2000, max: 500_000, description: 'Books ☕', commentMax: 5 },
    });
    expect(seen).toEqual(['/.well-known/lnurlp/alice']);
    issue = (amountMsat) => ({
      pr: invoiceOver(amountMsat, { hash: sha256(metadata) }),
      successAction: { tag: 'message', message: 'Thanks!' },
    });
    const { invoice, thanks } = await request({ amountSats: 15, comment: 'Hé ☕' });
    expect(invoice).toMatch(/^lnbcrt150n1/);
    expect(thanks).toBe('Thanks!');
    expect(seen.at(-1)).toBe(
      `/callback?id=1&amount=15000&comment=${encodeURIComponent('Hé ☕').replace('%20', '+')}`,
    );
  });

  test('with one amount needs none', async () => {
    terms = { ...terms, minSendable: 7000, maxSendable: 7000 };
    expect((await request()).invoice).toMatch(/^lnbcrt70n1/);
  });

  test('may give the description itself, and redirect to another server', async () => {
    issue = (amountMsat) => ({ pr: invoiceOver(amountMsat, 'Books') });
    answer = (asked, response) => {
      if (asked.url?.startsWith('/moved')) answer = undefined;
      response
        .writeHead(302, { location: asked.url?.startsWith('/moved') ? '/terms' : `https://${host}/moved` })
        .end();
    };
    expect((await request({ amountSats: 15 })).invoice).toMatch(/^lnbcrt150n1/);
    expect(seen.slice(0, 3)).toEqual(['/.well-known/lnurlp/alice', '/moved', '/terms']);
  });

  test.each([
    [{ amountSats: 1 }, /`amountSats` must be from 2 sats to 500 sats there/],
    [{ amountSats: 501 }, /`amountSats` must be from 2 sats to 500 sats there/],
    [{ amountSats: 15, comment: 'longer' }, /`comment` must have at most 5 characters there/],
  ])('is not asked for an invoice with %j', async (more, sentence) => {
    await expect(request(more)).rejects.toMatchObject(failure(sentence));
    expect(seen).toHaveLength(1);
  });

  test.each<[what: string, answers: () => void, sentence: RegExp]>([
    [
      'an invoice over another amount',
      () => {
        issue = (amountMsat) => ({ pr: invoiceOver(amountMsat + 1000, { hash: sha256(metadata) }) });
      },
      /issued an invoice over another amount/,
    ],
    [
      'an invoice for something else',
      () => {
        issue = (amountMsat) => ({ pr: invoiceOver(amountMsat, { hash: sha256('[]') }) });
      },
      /issued an invoice for something else/,
    ],
    [
      'no invoice',
      () => {
        issue = () => ({ pr: 'lnbcrt1nothing' });
      },
      /issued no valid invoice/,
    ],
    [
      'a refusal',
      () => {
        issue = () => ({ status: 'ERROR', reason: 'closed' });
      },
      /refused: closed/,
    ],
    [
      'a withdrawal',
      () => {
        terms = { ...terms, tag: 'withdrawRequest' };
      },
      /something else than a payment/,
    ],
    [
      'amounts that are none',
      () => {
        terms = { ...terms, minSendable: '2e3' };
      },
      /not valid/,
    ],
    [
      'no description',
      () => {
        terms = { ...terms, metadata: '[' };
      },
      /not valid/,
    ],
    [
      'no JSON',
      () => {
        answer = (_asked, response) => void response.end('<html>');
      },
      /answered with status 200/,
    ],
    [
      'an endless answer',
      () => {
        answer = (_asked, response) => void response.end(Buffer.alloc(1024 * 1024, 32));
      },
      /answered with status 200/,
    ],
    [
      'redirects without an end',
      () => {
        answer = (_asked, response) => void response.writeHead(302, { location: '/again' }).end();
      },
      /redirects too often/,
    ],
    [
      'a broken connection',
      () => {
        answer = (_asked, response) => void response.destroy();
      },
      /cannot be reached/,
    ],
  ])('that answers with %s is not paid', async (_what, answers, sentence) => {
    answers();
    await expect(request({ amountSats: 15 })).rejects.toMatchObject(failure(sentence));
  });
});

describe('an address within a private network is never requested', () => {
  const places = [
    'https://127.0.0.1:1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:192.168.0.1]/',
    'https://localhost:1/',
    'https://x.localhost/',
  ];

  test.each(places)('%s', async (place) => {
    const link = place.replace('https:', 'lnurlp:');
    await expect(request({ destination: link })).rejects.toMatchObject(failure(/private/));
    terms = { ...terms, callback: place };
    await expect(request({ amountSats: 15 })).rejects.toMatchObject(failure(/private/));
    answer = (_asked, response) => void response.writeHead(302, { location: place }).end();
    await expect(request()).rejects.toMatchObject(failure(/private/));
  });

  test('not even by a name that resolves to it', async () => {
    const { hostname } = await import('node:os');
    await expect(request({ destination: `lnurlp://${hostname()}/` })).rejects.toMatchObject(
      failure(/cannot be reached/),
    );
  });

  test.each(['http://example.com/', 'https://user:secret@example.com/', 'ftp://example.com/'])(
    'nor %s, which is not encrypted or has a password',
    async (callback) => {
      terms = { ...terms, callback };
      await expect(request({ amountSats: 15 })).rejects.toMatchObject(failure(/not encrypted/));
    },
  );
});
