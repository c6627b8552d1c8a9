import { bareValue } from '../shared/text/bare-value.ts';

/** What the program reads as settings; keys are tidied where they are read, as the configuration names their variables. */
const settings = /^(GATEWAY_|OTEL_)|^(HTTPS?|ALL|NO)_PROXY$/i;

/** Leaves of the variables that are settings what they mean, for everything that reads them, libraries included. */
export function tidyEnvironment(env: Record<string, string | undefined>): void {
  for (const [name, value = ''] of Object.entries(env)) {
    if (!settings.test(name)) continue;
    const bare = bareValue(value);
    if (bare !== value) env[name] = bare;
  }
}
