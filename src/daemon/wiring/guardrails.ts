import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { Guardrails } from '../features/guardrails/index.ts';
import { type InputCheck, inputCheck } from '../http/validation/input-check.ts';
import { BoundedPatterns } from '../runtime/bounded-patterns.ts';
import { createAskHook } from '../upstream/hooks/ask-hook.ts';
import type { CallAppDeps } from './app-deps.ts';

/** What calls and their answers have to pass. */
export function createGuardrails({
  settings,
  world,
  dataKey,
  log,
}: Pick<CallAppDeps, 'settings' | 'world' | 'dataKey' | 'log'>): Guardrails {
  const checks = new Map<Endpoint, InputCheck>();
  return new Guardrails({
    settings,
    world,
    ask: createAskHook(world, process.env),
    check(endpoint, body) {
      const check = checks.get(endpoint) ?? inputCheck(endpoint);
      checks.set(endpoint, check);
      check({ params: {}, query: {}, headers: {}, body });
    },
    patternsOf: (patterns) => new BoundedPatterns(patterns),
    dataKey,
    log,
  });
}
