import { createHash } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { isObject, type JsonObject, parseObject } from '../../../shared/json/json-object.ts';
import { bareInvoice } from '../../../shared/payments/bare-invoice.ts';
import type { World } from '../../base/world.ts';
import { loadBolt11 } from '../lightning/index.ts';
import { formatMsat } from './amounts.ts';

export interface LnurlPayDeps {
  /** Whether the address in a URL, if it is not a name, may be requested. */
  isPublic: (url: URL) => boolean;
  world: Pick<World, 'send'>;
}

/** What a service asks for, before it issues an invoice. */
export interface PayService {
  callback: URL;
  /** Millisatoshis. */
  min: number;
  max: number;
  /** The text whose hash its invoices contain. */
  metadata: string;
  description: string;
  /** The longest comment that it takes, in characters. */
  commentMax: number;
}

export interface ServiceInvoice {
  /** BOLT 11. */
  invoice: string;
  /** What it says to those who have paid. */
  thanks: string | null;
}

const timeoutMs = 10_000;
/** Descriptions may contain a picture. */
const bytesMax = 512 * 1024;
const redirectsMax = 3;
const textMax = 500;

/** Asks the service of an LNURL or Lightning address what it takes. Source: LUD-06, LUD-12. */
export async function askService(deps: LnurlPayDeps, url: URL): Promise<PayService> {
  const { found, at } = await ask(deps, url);
  const { tag, callback } = found;
  const [min, max] = [countIn(found.minSendable), countIn(found.maxSendable)];
  const isForPayments = tag === undefined ? min !== undefined : /^payRequest$/i.test(String(tag));
  if (!isForPayments) throw inputFault('destination', 'is an LNURL for something else than a payment');
  const address = typeof callback === 'string' ? URL.parse(callback, at.href) : null;
  const metadata = Array.isArray(found.metadata) ? JSON.stringify(found.metadata) : found.metadata;
  const description = typeof metadata === 'string' ? descriptionIn(metadata) : undefined;
  if (!address || !min || !max || description === undefined)
    throw failed(at, 'gave an answer that is not valid');
  const commentMax = countIn(found.commentAllowed);
  return {
    callback: address,
    min,
    max,
    metadata: metadata as string,
    description,
    commentMax: commentMax === undefined ? 0 : commentMax,
  };
}

/**
 * Has a service issue an invoice. Fails with `upstream_failed` if the invoice has another amount, or the hash of another
 * description.
 */
export async function requestInvoice(
  deps: LnurlPayDeps,
  { callback, min, max, metadata, commentMax }: PayService,
  { amountMsat, comment }: { amountMsat: number; comment: string | undefined },
): Promise<ServiceInvoice> {
  if (amountMsat < min || amountMsat > max)
    throw inputFault('amountSats', `must be from ${formatMsat(min)} to ${formatMsat(max)} there`);
  if (comment !== undefined && [...comment].length > commentMax) {
    const most = commentMax === 0 ? 'is not taken there' : `must have at most ${commentMax} characters there`;
    throw inputFault('comment', most);
  }
  const url = new URL(callback);
  url.searchParams.set('amount', String(amountMsat));
  if (comment !== undefined) url.searchParams.set('comment', comment);
  const { found, at } = await ask(deps, url);
  const { pr, successAction } = found;
  const invoice = typeof pr === 'string' ? bareInvoice(pr) : '';
  const decoded = (await loadBolt11()).readInvoice(invoice);
  if (!decoded) throw failed(at, 'issued no valid invoice');
  if (decoded.amountMsat !== amountMsat) throw failed(at, 'issued an invoice over another amount');
  const hash = createHash('sha256').update(metadata).digest('hex');
  // Newer services give the description itself.
  if (decoded.descriptionHash !== null && decoded.descriptionHash !== hash)
    throw failed(at, 'issued an invoice for something else');
  return { invoice, thanks: isObject(successAction) ? thanksIn(successAction) : null };
}

/** Requests a URL, and those that it redirects to. */
async function ask(deps: LnurlPayDeps, first: URL): Promise<{ found: JsonObject; at: URL }> {
  let url = first;
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    requireAllowed(deps, url);
    const { status, headers, body } = await send(deps, url);
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      body.cancel();
      url = URL.parse(headers.location, url.href) ?? url;
      continue;
    }
    const found = parseObject(Buffer.from(await body.bytes(bytesMax).catch(() => [])).toString());
    const isError = /^error$/i.test(textOf(found?.status) ?? '');
    if (found && !isError && status >= 200 && status < 300) return { found, at: url };
    const reason = reasonIn(found) ?? (isError ? 'without a reason' : undefined);
    throw failed(url, reason === undefined ? `answered with status ${status}` : `refused: ${reason}`);
  }
  throw failed(url, 'redirects too often');
}

function requireAllowed({ isPublic }: LnurlPayDeps, url: URL): void {
  const isEncrypted =
    url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname.endsWith('.onion'));
  if (!isEncrypted || url.username || url.password)
    throw inputFault('destination', 'leads to an address that is not encrypted');
  if (!isPublic(url)) throw inputFault('destination', `leads to ${url.host}, which is a private address`);
}

async function send({ world }: LnurlPayDeps, url: URL) {
  try {
    return await world.send({
      method: 'GET',
      url: url.href,
      headers: { accept: 'application/json', 'user-agent': 'gateway' },
      publicOnly: true,
      headersTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
    });
  } catch (error) {
    throw failed(url, 'cannot be reached', error);
  }
}

function failed(url: URL, what: string, cause?: unknown): ApiError {
  return new ApiError('upstream_failed', { param: 'destination', message: `${url.host} ${what}.`, cause });
}

/** Why a service refuses: as in LUD-06, or as web frameworks say it. */
function reasonIn({ reason, message, detail, error }: JsonObject = {}): string | undefined {
  const inner = isObject(error) ? error.message : error;
  return [reason, message, detail, inner].map(textOf).find(Boolean)?.replace(/\.$/, '');
}

/** The description in the metadata of a service; undefined if they cannot be read. */
function descriptionIn(metadata: string): string | undefined {
  try {
    const entries: unknown = JSON.parse(metadata);
    if (!Array.isArray(entries)) return undefined;
    const textOfType = (type: string) =>
      textOf(entries.find((each) => Array.isArray(each) && each[0] === type)?.[1]);
    return textOfType('text/plain') ?? textOfType('text/long-desc') ?? '';
  } catch {
    return undefined;
  }
}

/** The message or link for those who have paid. Source: LUD-09. */
function thanksIn({ tag, message, description, url }: JsonObject): string | null {
  if (tag === 'message') return textOf(message) ?? null;
  if (tag === 'url') return [textOf(description), textOf(url)].filter(Boolean).join(' ') || null;
  return null;
}

/** A number that may be stated as text; undefined for anything else. */
function countIn(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, textMax).toWellFormed() : undefined;
}
