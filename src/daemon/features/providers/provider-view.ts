import type { EndedBench, ProviderView } from '../../../shared/contract/providers.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { ProviderDescription } from '../catalog/index.ts';
import type { LearnedRefusal } from '../inference/index.ts';
import {
  accountKey,
  accountOf,
  accountOwner,
  type Bench,
  type BenchPeriod,
  type KeyUses,
} from '../routing/index.ts';
import type { BodyEdits } from './provider.ts';

/** Of a shorter key, four characters would tell too much. */
const hiddenCharsMin = 16;

interface ProviderFacts {
  description: ProviderDescription;
  access: { baseUrl: string; keyVariable: string | undefined } | undefined;
  hasKey: boolean;
  edits: BodyEdits | undefined;
  models: number;
  /** Current ones of all providers. */
  benches: readonly Bench[];
  /** Those that keep the host from the provider, whatever key it uses. */
  hostBenches: readonly Bench[];
  /** The host's keys by name, if there are several. */
  keys: ReadonlyMap<string, string> | undefined;
  usesOf: (account: string) => KeyUses | undefined;
  /** Since the start, oldest first. */
  periods: readonly BenchPeriod[];
  refusals: readonly LearnedRefusal[];
  /** Undefined without a limit of concurrent calls. */
  concurrency: { calls: number; running: number; waiting: number } | undefined;
  now: number;
}

/** What the host's owner sees of a provider; never its key. */
export function providerView(facts: ProviderFacts): ProviderView {
  const { description, access, hasKey, models, refusals, now } = facts;
  const { name, kind, available, reason, wires } = description;
  const benches = facts.benches.filter(({ provider }) => provider === name);
  const ofHost = facts.hostBenches.find(
    ({ provider, reason: why }) => provider === name && why !== 'unknown-model',
  );
  return {
    provider: name,
    kind,
    base_url: access ? withoutSecrets(access.baseUrl) : null,
    formats: [...(wires ?? [])],
    key: {
      variable: access?.keyVariable ?? null,
      set: hasKey,
      sealed: description.hasSealedKey ?? false,
    },
    keys: [...(facts.keys ?? [])].map(([key, secret]) => keyView(facts, key, secret)),
    models,
    state: available ? (ofHost ? 'benched' : 'available') : 'unavailable',
    reason: available ? (ofHost?.reason ?? null) : reason,
    benches: benches.map((bench) => ({
      ...endedView(bench),
      since: isoTime(sinceOf(bench, facts.periods) ?? now),
      next_attempt_at: bench.retryAfterMs > 0 ? isoTime(Math.round(now + bench.retryAfterMs)) : null,
    })),
    concurrency: concurrencyView(facts),
    dropped: [...(facts.edits?.drop ?? [])],
    renamed: { ...facts.edits?.rename },
    learned: refusals.map(({ model, member, change, becomes, agoMs, leftMs }) => ({
      model,
      member,
      change,
      becomes,
      learned_at: isoTime(Math.round(now - agoMs)),
      forgotten_at: isoTime(Math.round(now + leftMs)),
    })),
  };
}

function concurrencyView({ concurrency }: ProviderFacts): ProviderView['concurrency'] {
  if (concurrency === undefined) return null;
  const { calls, running, waiting } = concurrency;
  return { calls, running, waiting };
}

function keyView(
  { description: { name: provider }, benches, usesOf, now }: ProviderFacts,
  name: string,
  secret: string,
): ProviderView['keys'][number] {
  const account = accountOf(provider, { key: name });
  const uses = usesOf(account);
  return {
    name,
    hint: secret.length < hiddenCharsMin ? '…' : `…${secret.slice(-4)}`,
    attempts: uses?.attempts ?? 0,
    failed: uses?.failed ?? 0,
    last_used_at: uses === undefined ? null : isoTime(Math.round(now - uses.agoMs)),
    is_benched: benches.some((bench) => bench.account === account && bench.reason !== 'failing'),
  };
}

function sinceOf(bench: Bench, periods: readonly BenchPeriod[]): number | undefined {
  return periods.findLast(
    ({ account, provider, providerModel, reason }) =>
      provider === bench.provider &&
      reason === bench.reason &&
      providerModel === bench.providerModel &&
      (reason === 'failing' || account === bench.account),
  )?.since;
}

function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return '';
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname === '/' ? '' : pathname}`;
}

export function endedView(bench: Bench): EndedBench {
  return {
    workspace: accountOwner(bench) ?? null,
    key: accountKey(bench) ?? null,
    model: bench.model ?? null,
    reason: bench.reason,
  };
}
