import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { engineLibrary } from '../../../shared/constants/engine-library.ts';
import type { ModelRunner, RunningModel } from '../../features/engine/index.ts';
import { ModelProcess, type ModelProcessDeps } from './model-process.ts';
import type { DecideAnswer, DigestAnswer } from './protocol.ts';

/** A model in a process, for decisions and for completions. */
export interface LocalModel extends RunningModel, Pick<ModelProcess, 'send'> {}

/** Runs models with node-llama-cpp. The library is looked for again until it is found: it is installed while the daemon runs. */
export function modelProcesses({
  dataFolder,
  ...deps
}: Omit<ModelProcessDeps, 'library'> & { dataFolder: string }): ModelRunner<LocalModel> {
  let found: string | undefined;
  const library = () => {
    found ??= findLibrary(dataFolder);
    return found;
  };
  return {
    isInstalled: () => library() !== undefined,
    sizeOf: sizeOfModel,
    open: (file) => localModel(new ModelProcess(file, { ...deps, library })),
  };
}

function localModel(model: ModelProcess): LocalModel {
  return {
    get pid() {
      return model.pid;
    },
    load: () => model.load(),
    send: (work, body, timing) => model.send(work, body, timing),
    digest: async () => (await model.ask<DigestAnswer>('digest', {})).sha256,
    decide: (request, signal) => model.ask<DecideAnswer>('decide', request, signal),
    close: () => model.close(),
  };
}

const magic = 'GGUF';

async function sizeOfModel(path: string): Promise<number | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    const { buffer } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return buffer.toString('latin1') === magic ? stats.size : undefined;
  } finally {
    await file.close();
  }
}

/**
 * The main module of node-llama-cpp as a file URL: the one installed for the data folder, else the one installed alongside
 * this program. Undefined if there is none.
 */
export function findLibrary(dataFolder: string): string | undefined {
  const installed = join(
    dataFolder,
    engineLibrary.folder,
    'node_modules',
    engineLibrary.name,
    'package.json',
  );
  return mainOf(installed) ?? mainOf(besideThisProgram());
}

function besideThisProgram(): string | undefined {
  try {
    return findPackageJSON(engineLibrary.name, import.meta.url);
  } catch {
    return undefined;
  }
}

function mainOf(packageFile: string | undefined): string | undefined {
  if (packageFile === undefined) return undefined;
  try {
    const { main } = JSON.parse(readFileSync(packageFile, 'utf8')) as { main: string };
    return pathToFileURL(join(packageFile, '..', main)).href;
  } catch {
    return undefined;
  }
}
