import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../shared/errors.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { backendFacts, type ConnectedBackend } from '../../../shared/payments/wallet-backends.ts';
import type { Proxies } from '../../../shared/proxies.ts';
import type { World } from '../../base/world.ts';
import type { ReloadableSettings } from '../../config/config.ts';
import { paymentSettings } from '../../config/settings/payments.ts';
import { BackendFailure, type LightningBackend } from '../../features/lightning/backend.ts';
import type { Vault } from '../../features/vault/index.ts';
import type { BackendTerms } from '../../features/wallet/index.ts';
import { readNamedFile } from '../../runtime/read-named-file.ts';
import type { Network } from '../network.ts';
import { createProxiedNetwork } from '../provider-network.ts';
import type { LightningAdapter } from './adapter.ts';
import { lightningAdapters } from './registry.ts';

type LightningConfig = ReloadableSettings['lightning'];

interface LightningDeps {
  /** A reload replaces `lightning`. */
  settings: { readonly lightning: LightningConfig };
  embedded: LightningBackend;
  vault: Pick<Vault, 'open' | 'version'>;
  connectTimeoutMs: number;
  proxies: Proxies | undefined;
  world: Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;
}

/** The configured Lightning back end. */
export interface Lightning {
  /** Where its secret comes from. */
  secretSource(): Promise<SecretSource | null>;
  /** A back end that is not configured; its `close` ends all its connections. */
  connectOnce(terms: BackendTerms): LightningBackend;
  /** To be asked once per operation, as a reload can replace it. */
  backend(): LightningBackend;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Connects wallets to the back end that the configuration names, and to another one after a reload. */
export function createLightning(deps: LightningDeps): Lightning {
  const { settings, embedded } = deps;
  /** The latest is the last. Others may still be sending payments, so none is closed before the daemon stops. */
  const connected: Connected[] = [];
  return {
    backend() {
      const config = settings.lightning;
      const { backend: name } = config;
      if (name === 'embedded') return embedded;
      const latest = connected.at(-1);
      if (latest && isDeepStrictEqual(latest.config, config)) return latest.backend;
      const fresh = connect(name, config, deps);
      connected.push(fresh);
      return fresh.backend;
    },
    connectOnce({ backend: name, secret, ...terms }) {
      const configured = settings.lightning;
      // What is not given stays as it is configured, unless that is for another kind of node.
      const kept = name === configured.backend ? configured : undefined;
      const config = {
        ...configured,
        backend: name,
        secret,
        secretFile: undefined,
        url: terms.url ?? kept?.url,
        certificateFile: terms.certificateFile ?? kept?.certificateFile,
        network: terms.network ?? kept?.network ?? paymentSettings.wallet.network.default,
      };
      const { backend, close } = connect(name, config, deps);
      return { ...backend, close };
    },
    async secretSource() {
      const config = settings.lightning;
      return config.backend === 'embedded' ? null : await secretSource(config.backend, config, deps.vault);
    },
    async close() {
      await Promise.all(connected.map((each) => each.close()));
    },
  };
}

interface Connected {
  config: LightningConfig;
  backend: LightningBackend;
  close(): Promise<void>;
}

/** Creates the back end; it opens connections, and reads its files, on first use. */
function connect(
  name: ConnectedBackend,
  config: LightningConfig,
  { vault, proxies, connectTimeoutMs, world }: LightningDeps,
): Connected {
  const networks = new TrustingNetworks(config.certificateFile, async (certificate) =>
    createProxiedNetwork({ connectTimeoutMs, certificate }, proxies),
  );
  const adapter = lightningAdapters[name];
  const backend = adapter.create({
    url: config.url ?? backendFacts[name].url ?? '',
    network: config.network,
    secret: () => readSecret(name, adapter, config, vault),
    send: async (request) => await (await networks.current()).send(request),
    world,
  });
  const close = async () => {
    await backend.close?.();
    await networks.close();
  };
  return { config, backend, close };
}

/**
 * The network that trusts the certificate of a file, which is read for each call: nodes renew their certificates by
 * themselves.
 */
class TrustingNetworks {
  readonly #path: string | undefined;
  readonly #create: (certificate: string | undefined) => Promise<Network>;
  /** By certificate, the latest last. Payments may still be under way in the others, so none is closed before the daemon stops. */
  readonly #networks = new Map<string | undefined, Promise<Network>>();

  constructor(path: string | undefined, create: (certificate: string | undefined) => Promise<Network>) {
    this.#path = path;
    this.#create = create;
  }

  async current(): Promise<Network> {
    const latest = [...this.#networks.keys()].at(-1);
    const certificate = await readCertificate(this.#path).catch((error: unknown) => {
      // It may just be replaced.
      if (this.#networks.size > 0) return latest;
      throw error;
    });
    const known = this.#networks.get(certificate);
    const network = known ?? this.#create(certificate);
    // Of two that read it at once, the later one may have read the former content: the next call decides.
    this.#networks.delete(certificate);
    this.#networks.set(certificate, network);
    return await network;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#networks.values()].map(async (network) => (await network).close()));
  }
}

/** Of a secret and of a certificate. */
const secretBytesMax = 1024 ** 2;

async function readCertificate(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const read = readNamedFile(path, { bytesMax: secretBytesMax });
  const text = await read.then(String, (error: unknown) => {
    throw new BackendFailure('unreachable', messageOf(error), { cause: error });
  });
  if (isCertificate(text)) return text;
  throw new BackendFailure('unreachable', `${path} contains no certificate in PEM form.`);
}

function isCertificate(text: string): boolean {
  try {
    return text.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

/** The name under which the vault seals a back end's secret. */
export const backendSecretName = (backend: ConnectedBackend) => `wallet-backend|${backend}`;

/** The fault of a secret, as the predicate of a sentence; undefined if it is valid. */
export function secretFault(name: ConnectedBackend, secret: string): string | undefined {
  const { parseSecret, secretForm } = lightningAdapters[name];
  if (parseSecret(Buffer.from(secret)) !== undefined) return undefined;
  return `must be ${secretForm}`;
}

/** Where the secret of a back end comes from; null if there is none. */
export type SecretSource = 'environment' | 'file' | 'vault';

/** The first source that has a secret, in the order in which they apply. */
async function secretSource(
  name: ConnectedBackend,
  { secret, secretFile }: LightningConfig,
  vault: Pick<Vault, 'version'>,
): Promise<SecretSource | null> {
  if (secret !== undefined) return 'environment';
  if (secretFile !== undefined) return 'file';
  return (await vault.version(backendSecretName(name))) > 0 ? 'vault' : null;
}

async function readSecret(
  name: ConnectedBackend,
  { parseSecret, secretForm }: LightningAdapter,
  config: LightningConfig,
  vault: Pick<Vault, 'open' | 'version'>,
): Promise<string> {
  const { title } = backendFacts[name];
  const source = await secretSource(name, config, vault);
  if (source === null) {
    throw new ApiError('unavailable', {
      message: `The secret of ${title} is not set: gateway wallet connect ${name}`,
    });
  }
  const bytes = await readBytes(source, name, config, vault);
  const secret = parseSecret(bytes);
  bytes.fill(0);
  if (secret !== undefined) return secret;
  const where = { environment: config.secretVariable, file: config.secretFile, vault: 'the vault' }[source];
  throw new ApiError('unavailable', {
    message: `${where} does not contain the secret of ${title}, which is ${secretForm}.`,
  });
}

async function readBytes(
  source: SecretSource,
  name: ConnectedBackend,
  { secret = '', secretFile = '' }: LightningConfig,
  vault: Pick<Vault, 'open'>,
): Promise<Buffer> {
  if (source === 'environment') return Buffer.from(secret);
  if (source === 'vault') return await vault.open(backendSecretName(name));
  return await readNamedFile(secretFile, { bytesMax: secretBytesMax }).catch((error: unknown) => {
    throw new ApiError('unavailable', { message: messageOf(error) });
  });
}
