import type { World } from '../../base/world.ts';
import type { ProviderDescription } from '../catalog/index.ts';
import type { Provider } from './provider.ts';
import type { ProviderSet } from './provider-set.ts';

interface LocalServersDeps {
  /** The model servers that run on this machine now. */
  find: () => Promise<Provider[]>;
  providers: Pick<ProviderSet, 'byName' | 'add'>;
  world: Pick<World, 'elapsed' | 'sleep'>;
}

/** Model servers are started and load models whenever their users like. */
const everyMs = 60_000;
/** Callers can ask for names of nothing as often as they like. */
const unknownEveryMs = 2_000;

/** Looks for the model servers of this machine, again and again. One that is gone keeps its models, as it may come back. */
export function createLocalServers({ find, providers, world }: LocalServersDeps) {
  let running: Promise<Provider[]> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const foundEver = new Set<string>();
  let foundLast: ReadonlySet<string> = foundEver;

  const search = async (): Promise<Provider[]> => {
    const found = await find();
    foundLast = new Set(found.map(({ upstream }) => upstream.name));
    for (const name of foundLast) foundEver.add(name);
    const changed = found.filter(
      (provider) => !isKnown(providers.byName.get(provider.upstream.name), provider),
    );
    if (changed.length > 0) providers.add(changed);
    return found;
  };
  const look = async (): Promise<Provider[]> => {
    running ??= search().finally(() => {
      running = undefined;
      lookedAt = world.elapsed();
    });
    return await running;
  };
  return {
    look,
    /** Whether a server that was found before did not answer the last time. */
    isStopped: (provider: string) => foundEver.has(provider) && !foundLast.has(provider),
    /** The same for a model that nobody knows; undefined if the last time was moments ago. */
    lookAgain(): Promise<unknown> | undefined {
      return running !== undefined || world.elapsed() - lookedAt >= unknownEveryMs ? look() : undefined;
    },
    async keepLooking(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
      while (!signal.aborted) {
        await world.sleep(everyMs, signal).catch(() => {});
        if (!signal.aborted) await look().catch(onFailure);
      }
    },
  };
}

function isKnown(known: Provider | undefined, found: Provider): boolean {
  if (known === undefined) return false;
  const { description: before } = known;
  const { description: now } = found;
  const listed = ({ models, details }: ProviderDescription) => JSON.stringify([models, details]);
  return before.baseUrl === now.baseUrl && listed(before) === listed(now);
}
