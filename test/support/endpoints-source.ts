import { readdir } from 'node:fs/promises';
import { isEndpoint } from './endpoints.ts';

export const endpointsFile = 'src/shared/endpoints.ts';

const header = `// Generated from src/shared/contract by \`npm run endpoints\`.
// biome-ignore-all format: generated
// Loading the contracts would load TypeBox, which takes longer than Node's own start and is larger than the whole page, so
// commands and the page import only their types. An endpoint that differs from its contract does not compile.
`;

/** The methods and paths of all contracts, as a module that loads none of them. */
export async function endpointsSource(): Promise<string> {
  const folder = new URL('../../src/shared/contract/', import.meta.url);
  const imports = ["import type { Address } from './client.ts';"];
  const endpoints: string[] = [];
  const nameOf = (file: string) => file.replace(/\.ts$/, '');
  const files = (await readdir(folder)).sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  for (const file of files) {
    const contract = Object.entries((await import(new URL(file, folder).href)) as object).sort();
    const declared = contract.flatMap(([name, value]) => (isEndpoint(value) ? [{ name, ...value }] : []));
    if (declared.length === 0) continue;
    const namespace = `${nameOf(file).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Contract`;
    imports.push(`import type * as ${namespace} from './contract/${file}';`);
    for (const { name, method, path } of declared) {
      const type = `Address<typeof ${namespace}.${name}>`;
      endpoints.push(`export const ${name}: ${type} = { method: '${method}', path: '${path}' };`);
    }
  }
  return `${header}${imports.join('\n')}\n\n${endpoints.join('\n')}\n`;
}
