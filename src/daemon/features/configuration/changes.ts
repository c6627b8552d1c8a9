import { createHash, timingSafeEqual } from 'node:crypto';
import { Mutex } from '../../../shared/async/mutex.ts';
import { textChanges } from '../../../shared/comparison/text-changes.ts';
import type {
  ConfigChange,
  ConfigurationPreview,
  ConfigWarning,
  ReloadReport,
} from '../../../shared/contract/configuration.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isKnownProvider } from '../../../shared/known-providers.ts';
import { type HostAccount, type HostKeys, keyFormatFault } from '../provider-keys/index.ts';

/** A provider or upstream of the configuration, and the secrets that are sent there. */
export interface HostEntry extends HostAccount {
  /** The known provider that it is; undefined for an upstream. */
  kind: string | undefined;
  /** All that are sent there, with the variables that hold them. */
  environmentKeys: ReadonlyArray<{ variable: string; key: string }>;
  /** Headers with their values. */
  headers: string[];
}

/** What a change would do to the file. */
export interface PlannedChange {
  file: string;
  before: string;
  after: string;
  /** Both texts without secrets. */
  shown: { before: string; after: string };
  entries: { before: HostEntry[]; after: HostEntry[] };
  version: string;
  linkedTo: string | null;
  refusal: string | null;
  notes: string[];
  /** Models that are named now and were not before, and that no configured provider is known to have. */
  unknownModels: (ConfigWarning & { model: string })[];
}

interface ConfigurationChangesDeps {
  file: {
    plan(changes: readonly ConfigChange[]): Promise<PlannedChange>;
    write(plan: PlannedChange): Promise<void>;
  };
  hostKeys: Pick<HostKeys, 'has' | 'keep' | 'forget'>;
  /** Whether a model can be called now, as a provider has listed it. */
  isKnownModel: (model: string) => Promise<boolean>;
  /** How many other daemons serve the database. */
  otherDaemons: () => Promise<number>;
  reload: () => Promise<ReloadReport>;
}

type TypedKeys = Readonly<Record<string, string | null>>;

interface RequestedChange {
  changes: readonly ConfigChange[];
  keys?: TypedKeys | undefined;
}

interface Plan extends PlannedChange {
  /** Keys to seal. */
  keep: { account: HostEntry; key: string }[];
  /** Keys that nothing uses any more. */
  forget: HostAccount[];
}

/** Changes of the configuration file: shown first, then made exactly as they were shown. */
export function createConfigurationChanges(deps: ConfigurationChangesDeps) {
  const { file, hostKeys } = deps;
  const oneByOne = new Mutex();

  const plan = async ({ changes, keys = {} }: RequestedChange): Promise<Plan> => {
    const planned = await file.plan(changes);
    const { before, after } = planned.entries;
    const keep: Plan['keep'] = [];
    for (const entry of after) {
      const known = before.find(({ name }) => name === entry.name);
      const key = keys[entry.name];
      const isMoved = known !== undefined && known.baseUrl !== entry.baseUrl;
      refuseMovedSecrets(entry, before, key);
      if (isMoved && key === undefined && (await hostKeys.has(known)))
        throw keyNeeded(entry, 'The key in the vault');
      if (typeof key !== 'string' || entry.environmentKeys.some((one) => isSame(key, one.key))) continue;
      const fault = entry.kind && isKnownProvider(entry.kind) ? keyFormatFault(entry.kind, key) : undefined;
      if (fault !== undefined)
        throw new ApiError('invalid_request', { param: `keys.${entry.name}`, message: fault });
      keep.push({ account: entry, key });
    }
    const isThere = (name: string) => after.some((entry) => entry.name === name);
    const unknown = Object.keys(keys).find((name) => !isThere(name));
    if (unknown !== undefined)
      throw new ApiError('invalid_request', {
        param: `keys.${unknown}`,
        message: `There is no provider or upstream ${JSON.stringify(unknown)}.`,
      });
    const forget = before.filter(
      (entry) =>
        keys[entry.name] === null ||
        !after.some(({ name, baseUrl }) => name === entry.name && baseUrl === entry.baseUrl),
    );
    return { ...planned, keep, forget };
  };

  return {
    /** Fails with `invalid_request` (the change is not possible) or `conflict` (the file has faults). */
    async preview(request: RequestedChange): Promise<ConfigurationPreview> {
      const planned = await plan(request);
      const { shown, keep, version, linkedTo, refusal, notes, file: path } = planned;
      const warnings: ConfigWarning[] = [];
      for (const warning of planned.unknownModels)
        if (!(await deps.isKnownModel(warning.model))) warnings.push(warning);
      const others = await deps.otherDaemons();
      const deleted = Object.entries(request.keys ?? {}).filter(([, key]) => key === null);
      return {
        object: 'configuration_preview',
        file: path,
        version,
        diff: textChanges(shown.before, shown.after),
        keys: [...keep.map(({ account }) => account.name), ...deleted.map(([name]) => name)],
        linked_to: linkedTo,
        refusal,
        notes: [...notes, ...(others > 0 ? [othersNote(others)] : [])],
        warnings,
      };
    },

    /** Fails with `conflict` if the version is not that of the change, or the file cannot be written. */
    change: (request: RequestedChange & { version: string }): Promise<ReloadReport> =>
      oneByOne.run(async () => {
        const planned = await plan(request);
        if (planned.version !== request.version) throw changedSincePreview();
        const isEdit = planned.after !== planned.before;
        if (isEdit && planned.refusal !== null) throw new ApiError('conflict', { message: planned.refusal });
        const added: HostAccount[] = [];
        try {
          for (const { account, key } of planned.keep) {
            if (!(await hostKeys.has(account))) added.push(account);
            await hostKeys.keep(account, key);
          }
          if (isEdit) await file.write(planned);
        } catch (error) {
          for (const account of added) await hostKeys.forget(account);
          throw error;
        }
        for (const account of planned.forget) if (await hostKeys.has(account)) await hostKeys.forget(account);
        return await deps.reload();
      }),
  };
}

/** The file is no longer the one that was looked at. */
export function changedSincePreview(): ApiError {
  return new ApiError('conflict', {
    message:
      'The configuration file has changed since the preview. Nothing was written: look at the change again.',
  });
}

/**
 * No secret of the environment or the file may be sent where it was not sent before, as whoever may use this login need not
 * know it.
 */
function refuseMovedSecrets(
  entry: HostEntry,
  before: readonly HostEntry[],
  key: string | null | undefined,
): void {
  const { baseUrl, headers, environmentKeys } = entry;
  const there = before.filter((one) => one.baseUrl === baseUrl);
  if (!headers.every((header) => there.some((one) => one.headers.includes(header))))
    throw new ApiError('invalid_request', {
      param: 'changes',
      message: `The headers of ${entry.name} may be secret, and would be sent to another address: change it in the file, on the machine of the daemon.`,
    });
  const isKnownThere = (secret: string) =>
    there.some((one) => one.environmentKeys.some((other) => isSame(secret, other.key)));
  for (const { variable, key: secret } of environmentKeys)
    if (!isKnownThere(secret) && !(typeof key === 'string' && isSame(key, secret)))
      throw keyNeeded(entry, `The key in ${variable}`);
}

function keyNeeded({ name, baseUrl }: HostAccount, what: string): ApiError {
  return new ApiError('invalid_request', {
    param: `keys.${name}`,
    message: `${what} would be sent to another address: type the key for ${baseUrl} again.`,
  });
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function othersNote(count: number): string {
  return count === 1
    ? 'Another daemon uses this database and has a configuration file of its own: change that one, too.'
    : `${count} other daemons use this database and have configuration files of their own: change those, too.`;
}
