import { isObject } from '../../../shared/json/json-object.ts';
import { dollarText, formatUsd, type NanoUsd, parseUsd } from '../../../shared/money/money.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import type { Rate } from './store.ts';

/** A reload changes the members. */
export interface RateSettings {
  /** Nano-dollars per bitcoin; takes precedence over `url`. */
  perBitcoin: NanoUsd | undefined;
  /** Where to fetch JSON with the rate. */
  url: string | undefined;
  /** The place of the rate in it, as a JSON pointer (RFC 6901). */
  pointer: string;
  maxAgeMs: number;
}

export interface RatesDeps {
  settings: RateSettings;
  /** Play money has a rate even if none is configured. */
  isPlayMoney: () => boolean;
  world: Pick<World, 'now' | 'send'>;
  log: Pick<Log, 'warn'>;
}

/** The rate of play money: a satoshi is a tenth of a cent. */
const playRate = 100_000 * 1_000_000_000;
/** What a bitcoin has cost since 2017, and more than it can cost while sums stay exact; `config/settings/payments.ts` has the same bounds. */
const rateMin = 1_000 * 1_000_000_000;
const rateMax = 9_000_000 * 1_000_000_000;
/** By which factor the rate may change within an hour; after a longer time, by this factor for each hour. */
const changeMax = 1.25;
const hourMs = 60 * 60 * 1000;
const timeoutMs = 5_000;
const bytesMax = 1024 * 1024;
/** How long a failed request is not repeated. */
const retryAfterMs = 10_000;

/** The exchange rate of bitcoin: configured, or fetched and cached. */
export class Rates {
  readonly #deps: RatesDeps;
  #cached: (Rate & { url: string; pointer: string }) | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(deps: RatesDeps) {
    this.#deps = deps;
  }

  /** Undefined if none is configured, or none that is recent enough can be fetched. */
  async current(): Promise<Rate | undefined> {
    const { settings, isPlayMoney, world } = this.#deps;
    const at = world.now();
    if (settings.perBitcoin !== undefined) return { perBitcoin: settings.perBitcoin, source: 'config', at };
    if (settings.url === undefined) {
      return isPlayMoney() ? { perBitcoin: playRate, source: 'default', at } : undefined;
    }
    if (!this.#fresh() && at - this.#failedAt >= retryAfterMs) {
      this.#fetching ??= this.#fetch(settings.url, settings.pointer).finally(() => {
        this.#fetching = undefined;
      });
      await this.#fetching;
    }
    return this.#fresh();
  }

  #fresh(): Rate | undefined {
    const { settings, world } = this.#deps;
    const cached = this.#cached;
    if (cached?.url !== settings.url || cached?.pointer !== settings.pointer) return undefined;
    if (world.now() - cached.at >= settings.maxAgeMs) return undefined;
    const { perBitcoin, source, at } = cached;
    return { perBitcoin, source, at };
  }

  async #fetch(url: string, pointer: string): Promise<void> {
    const { world, log } = this.#deps;
    const source = new URL(url).host;
    try {
      const { status, body } = await world.send({
        method: 'GET',
        url,
        headers: { accept: 'application/json' },
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
      });
      const bytes = await body.bytes(bytesMax);
      if (status !== 200) throw new Error(`it answered with status ${status}`);
      const found = valueAt(JSON.parse(Buffer.from(bytes).toString()), pointer);
      const perBitcoin = toNanoUsd(found);
      if (perBitcoin === undefined) throw new Error(`there is no rate at ${pointer}`);
      const fetched = { perBitcoin, source, at: world.now(), url, pointer };
      const last = this.#cached;
      const fault = faultOf(fetched, last?.url === url && last.pointer === pointer ? last : undefined);
      if (fault !== undefined) throw new Error(fault);
      this.#cached = fetched;
    } catch (error) {
      this.#failedAt = world.now();
      log.warn({ err: error, host: source }, 'the exchange rate of bitcoin could not be fetched');
    }
  }
}

/** Why a fetched rate is wrong, which would sell calls for next to nothing or charge a fortune; undefined if it is plausible. */
function faultOf(fetched: Rate, last: Rate | undefined): string | undefined {
  const shown = ({ perBitcoin }: Pick<Rate, 'perBitcoin'>) => dollarText(formatUsd(perBitcoin));
  const { perBitcoin, at } = fetched;
  if (perBitcoin < rateMin || perBitcoin > rateMax) {
    const bounds = `${shown({ perBitcoin: rateMin })} to ${shown({ perBitcoin: rateMax })}`;
    return `${shown(fetched)} per bitcoin is not within ${bounds}`;
  }
  if (last === undefined) return undefined;
  const change = Math.max(perBitcoin / last.perBitcoin, last.perBitcoin / perBitcoin);
  if (change <= changeMax ** Math.max(1, (at - last.at) / hourMs)) return undefined;
  return `${shown(fetched)} per bitcoin is too far from the last rate, ${shown(last)}`;
}

/** The value at a JSON pointer; undefined if there is none. */
export function valueAt(json: unknown, pointer: string): unknown {
  if (pointer === '') return json;
  let value = json;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^\d+$/.test(name) ? value[Number(name)] : undefined;
    else if (isObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/** Dollars as a number or a decimal text, rounded to cents. */
function toNanoUsd(dollars: unknown): NanoUsd | undefined {
  const value = typeof dollars === 'string' && /^\d+(\.\d+)?$/.test(dollars) ? Number(dollars) : dollars;
  return typeof value === 'number' && value > 0 ? parseUsd(value.toFixed(2)) : undefined;
}

const msatPerBitcoin = 100_000_000_000n;
const msatPerSat = 1000n;

/** The least whole number of satoshis, as millisatoshis, that is worth an amount; at least one. */
export function msatFor(amount: NanoUsd, { perBitcoin }: Pick<Rate, 'perBitcoin'>): number {
  const perSat = msatPerBitcoin / msatPerSat;
  const sats = (BigInt(Math.max(1, amount)) * perSat + BigInt(perBitcoin) - 1n) / BigInt(perBitcoin);
  return safe(sats * msatPerSat);
}

/** The value of millisatoshis, rounded down. */
export function worthOf(msat: number, { perBitcoin }: Pick<Rate, 'perBitcoin'>): NanoUsd {
  return safe((BigInt(msat) * BigInt(perBitcoin)) / msatPerBitcoin);
}

function safe(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError('the amount is too large');
  return number;
}
