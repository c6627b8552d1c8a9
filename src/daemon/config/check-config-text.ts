import { isIP } from 'node:net';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { localModelsProvider } from '../../shared/engine-library.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { type SchemaFault, schemaFaults } from '../yaml/schema-faults.ts';
import { headerFaults } from './headers.ts';
import { ConfigFile } from './schema.ts';

/** Names of providers that have no entry in the file: an answer could not show which provider it came from. */
const takenNames = ['simulator', 'sim', localModelsProvider];

/** Parses and checks the text of a config file; every fault has its line and column. */
export function checkConfigText(text: string, path: string): { file: ConfigFile; faults: ConfigFault[] } {
  const read = readYaml(text, path);
  if ('faults' in read) return { file: {}, faults: read.faults.map(asConfigFault) };
  const shape = schemaFaults(ConfigFile, read.value, { whole: 'the configuration' });
  const faults = shape.length > 0 ? shape : faultsOfMeaning(read.value as ConfigFile);
  if (faults.length > 0) return { file: {}, faults: read.placed(faults).map(asConfigFault) };
  return { file: read.value as ConfigFile, faults: [] };
}

/** Checks that a schema cannot express. */
function faultsOfMeaning(file: ConfigFile): SchemaFault[] {
  const { providers = {}, upstreams = [] } = file;
  const written = [
    ...Object.entries(providers).map(([name, provider]) => ({
      path: ['providers', name],
      headers: provider.headers,
    })),
    ...upstreams.map(({ headers }, at) => ({ path: ['upstreams', at], headers })),
  ];
  const inHeaders = written.flatMap(({ path, headers = {} }) =>
    headerFaults(headers).map(({ name, message }) => ({
      path: [...path, 'headers', name],
      isKey: true,
      message,
    })),
  );
  return [...nameFaults(file), ...inHeaders, ...networkFaults(file)];
}

function networkFaults({ paywalls }: ConfigFile): SchemaFault[] {
  const isNetwork = (text: string) => {
    const [address = '', bits = '0', ...more] = text.split('/');
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
  };
  return (paywalls?.trusted_proxies ?? []).flatMap((text, at) => {
    if (isNetwork(text)) return [];
    const message = `${text} is neither an address nor a network, such as 10.0.0.7 or 10.1.0.0/16`;
    return [{ path: ['paywalls', 'trusted_proxies', at], isKey: false, message }];
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

function asConfigFault(fault: { file: string; line: number; column: number; message: string }): ConfigFault {
  return { place: `${fault.file}:${fault.line}:${fault.column}`, message: fault.message };
}
