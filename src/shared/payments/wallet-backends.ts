/** Facts about a Lightning back end; its adapter is in `src/daemon/upstream/lightning`. */
export interface BackendFacts {
  /** Its name for users. */
  title: string;
  /** Where its API listens by default; undefined if its secret contains the address. */
  url?: string;
  /** The kind of credential that its API accepts. */
  secret: string;
}

const facts = {
  electrum: { title: 'Electrum', url: 'http://127.0.0.1:7777', secret: 'JSON-RPC user and password' },
  lnd: { title: 'LND', url: 'https://127.0.0.1:8080', secret: 'macaroon' },
  nwc: { title: 'Nostr Wallet Connect', secret: 'connection string' },
  phoenixd: { title: 'phoenixd', url: 'http://127.0.0.1:9740', secret: 'HTTP password' },
} as const satisfies Record<string, BackendFacts>;

/** A back end that reaches other wallets, as the configuration names it. */
export type ConnectedBackend = keyof typeof facts;

export const backendFacts: Readonly<Record<ConnectedBackend, BackendFacts>> = facts;

export const connectedBackends = Object.keys(facts) as [ConnectedBackend, ...ConnectedBackend[]];

/** Every back end; `embedded` pays within the host, with play money. */
export type WalletBackend = 'embedded' | ConnectedBackend;

export const walletBackends: readonly WalletBackend[] = ['embedded', ...connectedBackends];

/** The chains on which back ends issue and pay invoices. */
export const lightningNetworks = ['bitcoin', 'testnet', 'signet', 'regtest'] as const;

export type LightningNetwork = (typeof lightningNetworks)[number];
