import { isAbsolute } from 'node:path';
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
  // It would be another folder wherever a command runs. Without it, the system says where the user's is.
  if (env.HOME !== undefined && !isAbsolute(env.HOME)) delete env.HOME;
}

/** The user's folder, also for all that asks the system for it. `homedir` fails for a user whom the system does not know. */
export function homeFolder(env: Record<string, string | undefined>, homedir: () => string): string {
  try {
    return homedir();
  } catch {
    // As container runtimes set it for such users.
    env.HOME = '/';
    return env.HOME;
  }
}
