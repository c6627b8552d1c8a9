import { type Static, Type } from 'typebox';
import { redactionKinds } from '../../../shared/masking/redaction-kinds.ts';
import { headersOf, WrittenHeaders } from '../headers.ts';
import { integer, models, oneOf, patterns, text, url } from './schemas.ts';
import { type Environment, setting, type Values } from './setting.ts';

const moment = oneOf(['request', 'answer'], 'request or answer');

const HookConfig = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$',
        description: 'text of letters, digits, _, . and -, at most 40',
      }),
    ),
    on: Type.Union([moment, Type.Array(moment, { minItems: 1, maxItems: 2, description: 'a list of both' })]),
    /** A program with its arguments. */
    command: Type.Optional(
      Type.Union([
        text,
        Type.Array(text, { minItems: 1, maxItems: 64, description: 'a list of a program and its arguments' }),
      ]),
    ),
    url: Type.Optional(url),
    headers: Type.Optional(WrittenHeaders),
    timeout_ms: Type.Optional(integer(1, 600_000, 'milliseconds')),
    fail: Type.Optional(oneOf(['open', 'closed'], 'open or closed')),
    models: Type.Optional(models),
    window: Type.Optional(integer(1, 1_000_000, 'a number of characters')),
  },
  { additionalProperties: false, description: 'a map of on, and command or url' },
);

type HookConfig = Static<typeof HookConfig>;

/** What may be replaced in requests before they are sent. */
const replacedKinds = [...redactionKinds, 'credential'] as const;

export const guardrailSettings = {
  // A hook is a program that the daemon runs, or gets all that calls contain.
  hooks: setting(Type.Array(HookConfig, { maxItems: 32, description: 'a list of hooks' }), {
    default: [],
    isFileOnly: true,
  }),
  redaction: {
    kinds: setting(
      Type.Array(oneOf(replacedKinds, replacedKinds.join(', ')), {
        maxItems: replacedKinds.length,
        description: `a list of ${replacedKinds.join(', ')}`,
      }),
      { default: [] },
    ),
    patterns: setting(patterns, { default: [] }),
    models: setting(models),
  },
};

const defaults = { timeoutMs: 5_000, window: 1_000 };

export function guardrailConfig(
  { hooks, redaction }: Values<typeof guardrailSettings>,
  { env }: { env: Environment },
) {
  const { kinds, patterns, models: redacted } = redaction;
  const replaces = kinds.length > 0 || patterns.length > 0;
  return {
    /** What calls and answers have to pass. */
    guardrails: {
      isUsed: hooks.length > 0 || replaces,
      hooks: hooks.map((hook) => hookOf(hook, env)),
      redaction: replaces ? { kinds, patterns, models: redacted } : undefined,
    },
  };
}

function hookOf(hook: HookConfig, env: Environment) {
  const { on, command, url: address, headers, timeout_ms, fail = 'closed', models: checked, window } = hook;
  const { values } = headersOf(headers, env);
  return {
    name: hook.name ?? nameOf(hook),
    on: [on].flat(),
    command: command === undefined ? undefined : [command].flat(),
    url: address,
    headers: values,
    timeoutMs: timeout_ms ?? defaults.timeoutMs,
    failsOpen: fail === 'open',
    models: checked,
    window: window ?? defaults.window,
  };
}

/** The program's name, or the host. */
function nameOf({ command, url: address }: HookConfig): string {
  if (address !== undefined) return new URL(address).hostname;
  const [program = ''] = [command ?? ''].flat();
  return program.split(/[\\/]/).at(-1)?.slice(0, 40) || 'hook';
}
