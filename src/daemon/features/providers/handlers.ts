import {
  type CheckedProvider,
  checkProviders,
  type EndedBench,
  getProvider,
  type ProviderView,
  retryProvider,
} from '../../../shared/contract/providers.ts';
import { ApiError } from '../../../shared/errors.ts';
import { missing } from '../../../shared/faults/not-found.ts';
import { type Handler, implement } from '../../base/handler.ts';
import { accountKey, accountOwner, type Bench } from '../routing/index.ts';

export interface ProviderHandlersDeps {
  has: (provider: string) => boolean;
  /** What is known of a provider that there is. */
  show: (provider: string) => Promise<ProviderView>;
  /** Ends the benches of all accounts and models of a provider, and returns them. */
  retry: (provider: string) => Promise<readonly Bench[]>;
  /** Asks each provider that can be called; the benches of those that answer end. */
  check: () => Promise<readonly ProviderVerdict[]>;
}

interface ProviderVerdict extends Omit<CheckedProvider, 'ended'> {
  ended: readonly Bench[];
}

/** What the host's owner sees of the providers, and does about them. */
export function providerHandlers(deps: ProviderHandlersDeps): Handler[] {
  const known = (provider: string): string => {
    if (deps.has(provider)) return provider;
    throw new ApiError('not_found', { message: missing('provider', provider) });
  };
  return [
    implement(getProvider, async ({ params }) => await deps.show(known(params.provider))),

    implement(retryProvider, async ({ params }) => {
      const provider = known(params.provider);
      return { provider, ended: (await deps.retry(provider)).map(endedView) };
    }),

    implement(checkProviders, async () => {
      const checked = await deps.check();
      return { object: 'list', data: checked.map((one) => ({ ...one, ended: one.ended.map(endedView) })) };
    }),
  ];
}

export function endedView(bench: Bench): EndedBench {
  return {
    workspace: accountOwner(bench) ?? null,
    key: accountKey(bench) ?? null,
    model: bench.model ?? null,
    reason: bench.reason,
  };
}
