import { knownProviders, providerFacts } from '../../../shared/known-providers.ts';
import type { ToolSettings } from './tools.ts';

type Environment = Record<string, string | undefined>;

const providerKeys: ReadonlySet<string> = new Set([
  ...knownProviders.flatMap((name) => providerFacts[name].keyVariables),
  'ANTHROPIC_AUTH_TOKEN',
  'AWS_BEARER_TOKEN_BEDROCK',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'HF_TOKEN',
]);

/** Variables with which a tool could call models past its own key and that key's limits. */
const isWithheld = (name: string) =>
  /^GATEWAY_/i.test(name) || /_API_KEYS?$/i.test(name) || providerKeys.has(name);

/**
 * The environment of a tool: that of the caller without other keys, and the settings. `passed` names keys that the tool gets all
 * the same; `withheld` are the names of those that it does not.
 */
export function toolEnvironment(
  env: Environment,
  { settings, passed }: { settings: ToolSettings; passed: readonly string[] },
): { env: Environment; withheld: string[] } {
  const isSet = (name: string) => env[name] !== undefined && env[name] !== '';
  const withheld = Object.keys(env).filter((name) => isWithheld(name) && !passed.includes(name));
  const removed = new Set([...withheld, ...(settings.unset ?? [])]);
  const inherited = Object.entries(env).filter(([name]) => !removed.has(name));
  return {
    env: { ...Object.fromEntries(inherited), ...settings.env },
    withheld: withheld.filter(
      (name) => isSet(name) && !name.startsWith('GATEWAY_') && !Object.hasOwn(settings.env, name),
    ),
  };
}
