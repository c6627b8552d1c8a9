import { Type } from 'typebox';
import { listenDefaults } from '../../../shared/constants/listen-defaults.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import { lightningNetworks, walletBackends } from '../../../shared/payments/wallet-backends.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { flag, integer, oneOf, port, publicUrl, text, url, variable } from './schemas.ts';
import { type Environment, setting, type Values } from './setting.ts';

const sats = integer(0, 100_000_000_000, 'satoshis');

export const paymentSettings = {
  wallet: {
    backend: setting(oneOf(walletBackends, `one of ${walletBackends.join(', ')}`), {
      default: 'embedded',
      isFileOnly: true,
    }),
    url: setting(url, { isFileOnly: true }),
    certificate_file: setting(text, { isPath: true }),
    network: setting(oneOf(lightningNetworks, `one of ${lightningNetworks.join(', ')}`), {
      default: 'bitcoin',
      isFileOnly: true,
    }),
    secret_env: setting(variable, { default: 'GATEWAY_WALLET_SECRET', isFileOnly: true }),
    secret_file: setting(text, { isPath: true }),
    declared_hosts: setting(Type.Array(text, { description: 'a list of names' }), {
      default: [],
      isFileOnly: true,
    }),
  },
  mcp: {
    max_payment_sats: setting(sats, { default: 0, isFileOnly: true }),
    max_daily_sats: setting(sats, { default: 0, isFileOnly: true }),
  },
  paywalls: {
    host: setting(text, { default: listenDefaults.host as string, live: false }),
    port: setting(port, {
      default: listenDefaults.paywallsPort as number,
      env: ['GATEWAY_PAYWALLS_PORT'],
      live: false,
    }),
    public_url: setting(publicUrl, { isFileOnly: true }),
    allowed_upstreams: setting(Type.Array(text, { description: 'a list of host names and addresses' }), {
      default: [],
      isFileOnly: true,
    }),
    trusted_proxies: setting(
      Type.Array(text, { description: 'a list of addresses and networks: 10.0.0.7, 10.1.0.0/16' }),
      { live: false },
    ),
    caddy: {
      admin: setting(url, { live: false }),
      server: setting(text, { default: 'srv0', live: false }),
    },
    nginx: {
      file: setting(text, { live: false, isPath: true }),
      command: setting(
        Type.Array(text, { minItems: 1, description: 'a list: a program and its arguments' }),
        { default: ['nginx'], live: false },
      ),
    },
  },
  payments: {
    accept: setting(flag, { default: true }),
    usd_per_btc: setting(
      Type.String({
        pattern: '^([1-9]\\d{3,5}|[1-8]\\d{6})(\\.\\d{1,9})?$|^9000000(\\.0{1,9})?$',
        description: 'text: dollars from "1000" to "9000000"',
      }),
    ),
    rate_url: setting(url, { isFileOnly: true }),
    rate_pointer: setting(
      Type.String({
        pattern: '^(/[^/]*)*$',
        maxLength: 200,
        description: 'a JSON pointer like /bitcoin/usd',
      }),
    ),
    rate_max_age_seconds: setting(integer(1, 86_400, 'seconds'), { default: 300 }),
  },
};

type PaymentValues = Values<typeof paymentSettings>;

export function paymentConfig(
  { wallet, mcp, paywalls, payments }: PaymentValues,
  { env }: { env: Environment },
) {
  return {
    /** How to reach the Lightning back end. A new object after each reload. */
    lightning: {
      backend: wallet.backend,
      /** Without a trailing slash; undefined for the default address. */
      url: wallet.url && trimEnd(wallet.url, '/'),
      /** The certificate to trust, in PEM, if no known authority signed it. */
      certificateFile: wallet.certificate_file,
      network: wallet.network,
      /** The environment variable with the secret, and its value. */
      secretVariable: wallet.secret_env,
      secret: env[wallet.secret_env]?.trim() || undefined,
      secretFile: wallet.secret_file,
    },
    /** Hosts of which each payment has to declare one; empty for any. */
    paymentHosts: wallet.declared_hosts,
    /** Limits on what models may pay with tools, per wallet. */
    toolSpending: {
      perPaymentMsat: mcp.max_payment_sats * 1000,
      perDayMsat: mcp.max_daily_sats * 1000,
    },
    /** Upstreams of paywalls that are allowed whatever their address is. */
    allowedUpstreams: paywalls.allowed_upstreams,
    /** Whether invoices are offered for calls that credit does not cover. */
    acceptsPayments: payments.accept,
    /** The exchange rate of bitcoin. */
    rate: {
      /** Nano-dollars; a rate of zero is none. */
      perBitcoin: (payments.usd_per_btc && parseUsd(payments.usd_per_btc)) || undefined,
      url: payments.rate_url,
      /** The place of the rate in the JSON there. */
      pointer: payments.rate_pointer ?? '',
      maxAgeMs: payments.rate_max_age_seconds * 1000,
    },
  };
}

/** The reverse proxy of paywalls. */
export function paywallConfig({ paywalls: { host, port, trusted_proxies, caddy, nginx } }: PaymentValues) {
  return {
    host,
    port,
    /** Addresses and networks of proxies that name their clients truthfully. */
    trustedProxies: trusted_proxies,
    /** Other proxies that it keeps configured. */
    caddy: caddy.admin === undefined ? undefined : { admin: caddy.admin, server: caddy.server },
    nginx: nginx.file === undefined ? undefined : { file: nginx.file, command: nginx.command },
  };
}
