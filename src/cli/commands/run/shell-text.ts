import type { ToolSettings } from './tools.ts';

export const shells = ['posix', 'fish', 'powershell'] as const;

export type Shell = (typeof shells)[number];

/** How a shell writes the settings of a tool. */
interface Syntax {
  quote(text: string): string;
  set(name: string, value: string): string;
  unset(name: string): string;
  /** Puts arguments in front of those that the user types. */
  wrap(command: string, args: string): string;
}

const single = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const syntaxes: Readonly<Record<Shell, Syntax>> = {
  posix: {
    quote: single,
    set: (name, value) => `export ${name}=${value}`,
    unset: (name) => `unset ${name}`,
    wrap: (command, args) => `${command}() { command ${command} ${args} "$@"; }`,
  },
  fish: {
    quote: (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
    set: (name, value) => `set -gx ${name} ${value}`,
    unset: (name) => `set -e ${name}`,
    wrap: (command, args) => `function ${command}; command ${command} ${args} $argv; end`,
  },
  powershell: {
    quote: (text) => `'${text.replaceAll("'", "''")}'`,
    set: (name, value) => `$env:${name} = ${value}`,
    unset: (name) => `Remove-Item Env:${name} -ErrorAction Ignore`,
    wrap: (command, args) =>
      `function ${command} { & (Get-Command ${command} -CommandType Application)[0] ${args} @args }`,
  },
};

/** Statements that set up the shell for a tool, one a line. Where it needs arguments, they define a function of its name. */
export function shellText(command: string, settings: ToolSettings, shell: Shell): string {
  const { quote, set, unset, wrap } = syntaxes[shell];
  const { env, unset: removed = [], args = [] } = settings;
  const lines = [
    ...removed.map(unset),
    ...Object.entries(env).map(([name, value]) => set(name, quote(value))),
    ...(args.length > 0 ? [wrap(command, args.map(quote).join(' '))] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** The syntax of the user's login shell. */
export function usualShell({ SHELL }: Record<string, string | undefined>): Shell {
  return SHELL?.endsWith('/fish') ? 'fish' : 'posix';
}
