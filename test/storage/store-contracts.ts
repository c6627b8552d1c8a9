import { readdirSync } from 'node:fs';
import type { OpenStorage } from './records.ts';

type Contract = (open: OpenStorage) => void;

const folder = new URL('./', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.contract.ts'));
const modules: Record<string, Contract>[] = await Promise.all(
  files.sort().map((name) => import(new URL(name, folder).href)),
);
const contracts = modules.flatMap((module) => Object.values(module));

/** A part of the tests of all stores, which are the files `*.contract.ts` of this folder; test files that run side by side share them. */
export function storeContracts({ part, of }: { part: number; of: number }): Contract[] {
  return contracts.filter((_contract, index) => index % of === part - 1);
}
