import { knownProviders, providerFacts } from '../../../shared/known-providers.ts';
import { proxyVariables } from '../../../shared/proxies.ts';
import { shellQuoted } from '../../../shared/samples/literals.ts';
import { databaseUrlVariable } from '../../../shared/storage/database-url.ts';
import { daemonEnvironment } from '../../daemon-environment.ts';

/** The values in a service definition. */
export interface ServiceFacts {
  /** Absolute paths. */
  node: string;
  program: string;
  /** The file with environment variables, such as provider keys. */
  environmentFile: string;
  /** GATEWAY_HOME, if set. */
  home: string | undefined;
  configFile: string | undefined;
}

const restartSeconds = 2;
/** More than the 25 seconds that the daemon gives running calls. */
const stopSeconds = 40;

/**
 * A systemd user unit. Source: systemd.service(5), systemd.exec(5), and systemd.syntax(7) for quotes and `%`. It restarts
 * after a crash (70 and signals), but not when the user must repair the data (78) or the settings (2).
 */
export function unitText({ node, program, environmentFile, home, configFile }: ServiceFacts): string {
  const words = [node, program, 'serve', ...(configFile === undefined ? [] : ['--config', configFile])];
  const environment = Object.entries({
    ...daemonEnvironment,
    ...(home !== undefined && { GATEWAY_HOME: home }),
  });
  return `[Unit]
Description=Gateway, a local inference gateway
After=network.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${words.map(quoted).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
EnvironmentFile=-${environmentFile.replaceAll('%', '%%')}
${environment.map(([name, value]) => `Environment=${escaped(`${name}=${value}`)}\n`).join('')}Restart=on-failure
RestartPreventExitStatus=2 78
RestartSec=${restartSeconds}
TimeoutStopSec=${stopSeconds}
LimitNOFILE=65536
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** Of a command, where `$` begins a variable. */
function quoted(word: string): string {
  return escaped(word.replaceAll('$', '$$$$'));
}

function escaped(word: string): string {
  const text = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%');
  return /^[\w./:=@%+-]+$/.test(text) ? text : `"${text}"`;
}

/** The programs that a unit or property list starts: Node, and with it this program. Empty for a file of another form. */
export function programsIn(text: string): string[] {
  const lines = text.split('\n');
  const command = lines.find((line) => line.startsWith('ExecStart='))?.slice('ExecStart='.length) ?? '';
  const ofUnit = wordsIn(command, /"((?:[^"\\]|\\.)*)"?|([^\s"]+)/g).map((word) =>
    word.replace(/\\(.)|([%$])\2/g, (_, after: string | undefined, sign: string) => after ?? sign),
  );
  const started = lines.find((line) => line.endsWith(xml(' & child=$!'))) ?? '';
  const script = started.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  const ofScript = wordsIn(script, /'((?:[^']|'\\'')*)'/g).map((word) => word.replaceAll("'\\''", "'"));
  return [...ofUnit, ...ofScript].slice(0, 2);
}

function wordsIn(line: string, word: RegExp): string[] {
  return [...line.matchAll(word)].map(([, inner, plain]) => inner ?? plain ?? '');
}

/** The service's name in launchd. */
export const launchdLabel = 'local.gateway.serve';

/**
 * A launchd property list for one user. Source: launchd.plist(5). launchd cannot read an environment file, so a shell does;
 * launchd cannot distinguish exit codes, so the shell turns those that need the user's attention into 0.
 */
export function plistText(facts: ServiceFacts, { logFile }: { logFile: string }): string {
  const { node, program, environmentFile, home, configFile } = facts;
  const config = configFile === undefined ? '' : ` --config ${shellQuoted(configFile)}`;
  const variables = shellQuoted(environmentFile);
  const script = [
    `[ ! -f ${variables} ] || { set -a; . ${variables}; set +a; }`,
    'trap \'kill -TERM "$child"\' TERM',
    'trap \'kill -HUP "$child"\' HUP',
    `${shellQuoted(node)} ${shellQuoted(program)} serve${config} & child=$!`,
    'while :; do wait "$child"; code=$?; kill -0 "$child" 2>/dev/null || break; done',
    'case $code in 2|78) exit 0;; *) exit $code;; esac',
  ].join('\n');
  const environment =
    home === undefined
      ? ''
      : `  <key>EnvironmentVariables</key>\n  <dict><key>GATEWAY_HOME</key><string>${xml(home)}</string></dict>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${launchdLabel}</string>
  <key>ProgramArguments</key>
  <array><string>/bin/sh</string><string>-c</string><string>${xml(script)}</string></array>
${environment}  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>${stopSeconds}</integer>
  <key>Umask</key><integer>63</integer>
  <key>StandardErrorPath</key><string>${xml(logFile)}</string>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A secret can also be in a file that another variable names. */
function withFile(variable: string): string[] {
  return [variable, `${variable}_FILE`];
}

/**
 * Variables that a service needs but does not get, because it starts without a shell. By PATH, it finds the programs of hooks.
 * Source: Signet-AI/signetai#1452, lezli01/vincent#56, pingdotgg/t3code#8173.
 */
const carried: ReadonlySet<string> = new Set([
  ...knownProviders.flatMap((name) => providerFacts[name].keyVariables).flatMap(withFile),
  'PATH',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'GATEWAY_PORT',
  'GATEWAY_SOCKET',
  'GATEWAY_LOG_LEVEL',
  databaseUrlVariable,
  'GATEWAY_MASTER_KEY_FILE',
  'GATEWAY_VAULT_PASSPHRASE_FILE',
  ...withFile('GATEWAY_WALLET_SECRET'),
  'GATEWAY_PAYWALLS_PORT',
  ...proxyVariables,
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
]);

const isCarried = (name: string) => carried.has(name) || /^OTEL_[A-Z_]+$/.test(name);

/**
 * One `NAME="value"` per line, readable by both systemd and a shell; values with line breaks are left out. Lines of the text `before`
 * stay where the environment has nothing in their place: the shell of an update may lack the keys.
 */
export function environmentText(
  env: Record<string, string | undefined>,
  names: readonly string[],
  before = '',
): string {
  const lines = Object.entries(env)
    .filter(
      ([name, value]) =>
        (isCarried(name) || names.includes(name.replace(/_FILE$/, ''))) && value && !/[\r\n]/.test(value),
    )
    .map(([name, value]) => `${name}="${(value ?? '').replace(/[\\"$`]/g, '\\$&')}"\n`);
  const nameIn = (line: string) => /^\s*(?:export\s+)?([^\s=]*)/.exec(line)?.[1];
  const replaced = new Set(lines.map(nameIn));
  const kept = assignmentsIn(before).filter((line) => !replaced.has(nameIn(line)));
  return [...kept.map((line) => (line.endsWith('\n') ? line : `${line}\n`)), ...lines.sort()].join('');
}

/** With their ends. */
const linesIn = (text: string): string[] => text.match(/.*\n|.+/g) ?? [];

/** The lines of an environment file; a value in quotation marks may contain more of them. */
function assignmentsIn(text: string): string[] {
  const found: string[] = [];
  let open = '';
  let isOpen = false;
  for (const line of linesIn(text)) {
    open += line;
    const quotes = open.replace(/\\./g, '').match(/"[^"]*"|'[^']*'|["']/g) ?? [];
    isOpen = quotes.at(-1)?.length === 1 && !/^\s*[#;]/.test(open);
    if (isOpen) continue;
    found.push(open);
    open = '';
  }
  // A quotation mark that nothing closes belongs to its own line.
  return isOpen ? [...found, ...linesIn(open)] : found;
}
