import { maskText } from './mask-text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const secretVariable = /(?:^|_)(?:KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;

/** The variables for a program that needs no secrets of this one, such as the keys of providers. */
export function childEnvironment(env: Environment): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !secretVariable.test(name) && maskText(value) === value) passed[name] = value;
  return passed;
}
