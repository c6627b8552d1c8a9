import { isIP } from 'node:net';
import { localModelsProvider } from '../../shared/constants/engine-library.ts';
import type { ConfigWarning } from '../../shared/contract/configuration.ts';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { isObject } from '../../shared/json/json-object.ts';
import { knownProviders, localServerNames } from '../../shared/known-providers.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { type SchemaFault, schemaFaults } from '../yaml/schema-faults.ts';
import { databaseFaults } from './database.ts';
import { headerFaults } from './headers.ts';
import { memberPathPattern } from './settings/calls.ts';
import { type Group, isSetting } from './settings/setting.ts';
import { ConfigFile, table } from './settings/table.ts';

/** Names of providers that have no entry in the file: an answer could not show which provider it came from. */
const takenNames = ['simulator', 'sim', localModelsProvider];

export interface CheckedConfig {
  file: ConfigFile;
  faults: ConfigFault[];
  /** Settings in the file that no longer exist. */
  removed: ConfigWarning[];
}

/** Parses and checks the text of a config file; every fault has its line and column. */
export function checkConfigText(text: string, path: string): CheckedConfig {
  const read = readYaml(text, path);
  if ('faults' in read) return { file: {}, faults: read.faults.map(asConfigFault), removed: [] };
  takeNotes(read.value);
  takeEmpty(read.value, table);
  const removed = takeRemoved(read.value);
  const shape = schemaFaults(ConfigFile, read.value, { whole: 'the configuration' });
  const faults = shape.length > 0 ? shape : faultsOfMeaning(read.value as ConfigFile);
  if (faults.length > 0) return { file: {}, faults: read.placed(faults).map(asConfigFault), removed };
  return { file: read.value as ConfigFile, faults: [], removed };
}

/** Takes out what begins with `x-`, a place for anchors, as in compose files. */
function takeNotes(value: unknown): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) if (name.startsWith('x-')) delete value[name];
}

/** Takes out sections without anything in them, as where all of their lines are commented out. */
function takeEmpty(value: unknown, group: Group): void {
  if (!isObject(value)) return;
  for (const [name, node] of Object.entries(group)) {
    if (value[name] === null) delete value[name];
    else if (!isSetting(node)) takeEmpty(value[name], node);
  }
}

/** Takes settings of earlier versions out of a file, as they must not keep a daemon from starting. */
function takeRemoved(value: unknown): ConfigWarning[] {
  const { log } = (value ?? {}) as { log?: { bodies?: unknown } | null };
  if (typeof log !== 'object' || log === null || !('bodies' in log)) return [];
  delete log.bodies;
  const message =
    'log.bodies no longer exists: capture.content keeps what calls ask and are answered, for gateway calls show --body. Remove it.';
  return [{ setting: 'log.bodies', message }];
}

function patternFaults({ capture, redaction }: ConfigFile): SchemaFault[] {
  const faultsIn = (path: string[], patterns: readonly string[] = []) =>
    patterns.flatMap((pattern, at) => {
      try {
        new RegExp(pattern, 'gu');
        return [];
      } catch {
        return [{ path: [...path, at], isKey: false, message: 'must be a regular expression' }];
      }
    });
  return [
    ...faultsIn(['capture', 'redact_patterns'], capture?.redact_patterns),
    ...faultsIn(['redaction', 'patterns'], redaction?.patterns),
  ];
}

/** A hook is either a program or an address. */
function hookFaults({ hooks = [] }: ConfigFile): SchemaFault[] {
  const names = new Set<string>();
  return hooks.flatMap(({ name, command, url, headers }, at) => {
    const faults: SchemaFault[] = [];
    const fault = (path: string[], message: string) =>
      faults.push({ path: ['hooks', at, ...path], isKey: false, message });
    if ((command === undefined) === (url === undefined)) fault([], 'needs a command or a url, and not both');
    if (headers !== undefined && url === undefined) fault(['headers'], 'are for hooks with a url');
    if (name !== undefined && names.has(name)) fault(['name'], `${name} is the name of another hook`);
    if (name !== undefined) names.add(name);
    return faults;
  });
}

/** Checks that a schema cannot express. */
function faultsOfMeaning(file: ConfigFile): SchemaFault[] {
  const { providers = {}, upstreams = [], hooks = [] } = file;
  const written = [
    ...Object.entries(providers).map(([name, provider]) => ({
      path: ['providers', name],
      headers: provider.headers,
    })),
    ...upstreams.map(({ headers }, at) => ({ path: ['upstreams', at], headers })),
    ...hooks.map(({ headers }, at) => ({ path: ['hooks', at], headers })),
  ];
  const inHeaders = written.flatMap(({ path, headers = {} }) =>
    headerFaults(headers).map(({ name, message }) => ({
      path: [...path, 'headers', name],
      isKey: true,
      message,
    })),
  );
  return [
    ...nameFaults(file),
    ...limitFaults(file),
    ...editFaults(file),
    ...inHeaders,
    ...addressFaults(file),
    ...networkFaults(file),
    ...patternFaults(file),
    ...hookFaults(file),
    ...databaseFaults(file),
  ];
}

/** A name and password in an address would go nowhere: each call would fail. */
function addressFaults({ providers = {}, upstreams = [] }: ConfigFile): SchemaFault[] {
  const addresses = [
    ...Object.entries(providers).map(([name, { base_url }]) => ({ path: ['providers', name], base_url })),
    ...upstreams.map(({ base_url }, at) => ({ path: ['upstreams', at], base_url })),
  ];
  const message = '`base_url` must have no password: send one in `headers`, as authorization: { env: NAME }';
  return addresses
    .filter(({ base_url = '' }) => /^https?:\/\/[^/?#]*@/.test(base_url))
    .map(({ path }) => ({ path: [...path, 'base_url'], isKey: false, message }));
}

function networkFaults({ listen, paywalls }: ConfigFile): SchemaFault[] {
  const isNetwork = (text: string) => {
    const [address = '', bits = '0', ...more] = text.split('/');
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
  };
  const faultsIn = (section: 'listen' | 'paywalls', proxies: readonly string[] = []) =>
    proxies.flatMap((text, at) => {
      if (isNetwork(text) || (section === 'listen' && text === 'unix')) return [];
      const message = `${text} is neither an address nor a network, such as 10.0.0.7 or 10.1.0.0/16`;
      return [{ path: [section, 'trusted_proxies', at], isKey: false, message }];
    });
  return [...faultsIn('listen', listen?.trusted_proxies), ...faultsIn('paywalls', paywalls?.trusted_proxies)];
}

/** A limit of nothing would be one that no one notices. Names of models may become known later, such as those of local servers. */
function limitFaults({ upstreams = [], concurrency = {} }: ConfigFile): SchemaFault[] {
  const known = new Set<string>([...takenNames, ...knownProviders, ...localServerNames]);
  for (const { name } of upstreams) known.add(name);
  return Object.keys(concurrency).flatMap((name) => {
    if (name.includes('/') || known.has(name)) return [];
    const message = `no provider is named ${name}; the id of a model begins with that of its provider, like ollama/llama3.3`;
    return [{ path: ['concurrency', name], isKey: true, message }];
  });
}

/** An upstream may have the name of a built-in provider, which it then replaces, unless both are configured. */
function nameFaults({ providers = {}, upstreams = [] }: ConfigFile): SchemaFault[] {
  const taken = new Set([...takenNames, ...Object.keys(providers)]);
  const faults: SchemaFault[] = [];
  for (const [at, { name }] of upstreams.entries()) {
    if (taken.has(name)) {
      const message = `the name ${name} is taken: choose another for this upstream`;
      faults.push({ path: ['upstreams', at, 'name'], isKey: false, message });
    }
    taken.add(name);
  }
  return faults;
}

const isMemberPath = new RegExp(memberPathPattern);
/** What each call depends on. */
const fixedMembers: ReadonlySet<string> = new Set(['model', 'messages', 'input', 'stream']);

function editFaults({ upstreams = [] }: ConfigFile): SchemaFault[] {
  return upstreams.flatMap(({ drop = [], rename = {} }, at) => {
    const fault = (name: string, path: (string | number)[], does: string): SchemaFault[] => {
      if (!fixedMembers.has(name)) return [];
      const message = `${name} may not be ${does}: every call needs it as it is`;
      return [{ path: ['upstreams', at, ...path], isKey: false, message }];
    };
    const both = drop.filter((name) => Object.hasOwn(rename, name));
    return [
      ...drop.flatMap((name, index) => fault(name, ['drop', index], 'dropped')),
      ...Object.keys(rename).flatMap((from) => {
        if (isMemberPath.test(from)) return [];
        const message = `${from} is not the name of a member`;
        return [{ path: ['upstreams', at, 'rename', from], isKey: true, message }];
      }),
      ...Object.entries(rename).flatMap(([from, to]) => [
        ...fault(from, ['rename', from], 'renamed'),
        ...fault(to, ['rename', from], 'replaced'),
      ]),
      ...both.map((name) => ({
        path: ['upstreams', at, 'rename', name],
        isKey: true,
        message: `${name} is dropped, too: choose one`,
      })),
    ];
  });
}

function asConfigFault(fault: { file: string; line: number; column: number; message: string }): ConfigFault {
  return { place: `${fault.file}:${fault.line}:${fault.column}`, message: fault.message };
}
