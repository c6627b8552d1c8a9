import { closeSync, fstatSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { freeMemory, ownMemory } from '../runtime/own-memory.ts';

interface CachedScripts {
  /** What the first script exports. */
  exports: unknown;
  /** Stores the code of the scripts that were not in the cache, as compiled by now. Never throws. */
  save(): void;
}

/**
 * Runs a CommonJS script and those that it requires from its own folder. A script's compiled code is taken from the cache,
 * if it is there. Without a cache folder, everything is compiled on use. `compile` runs each task that loads compiled code.
 */
export function runCachedScripts(
  file: string,
  cacheFolder: string | undefined,
  compile = <T>(task: () => T): T => task(),
): CachedScripts {
  const folder = join(file, '..');
  const requirePackage = createRequire(file);
  const modules = new Map<string, { exports: unknown }>();
  const uncached = new Map<string, Script>();

  const run = (name: string): unknown => {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const filename = join(folder, name);
    // Joined as bytes, a long text is kept once, outside of V8's heap.
    const wrapped = readBetween(wrapper.start, filename, wrapper.end);
    const code = wrapped.toString('latin1');
    const cacheFile = cacheFolder && join(cacheFolder, `gateway-${name}-${crc32(wrapped).toString(16)}`);
    freeMemory(wrapped);
    const cachedData = cacheFile && readCache(cacheFile);
    const script = compile(() => new Script(code, { filename, ...(cachedData && { cachedData }) }));
    freeMemory(cachedData);
    if (cacheFile && (cachedData === undefined || script.cachedDataRejected)) uncached.set(cacheFile, script);
    const load = (id: string): unknown =>
      id.startsWith('./') ? run(basename(id)) : compile(() => requirePackage(id));
    script.runInThisContext()(module.exports, load, module, filename, folder);
    return module.exports;
  };

  return {
    exports: run(basename(file)),
    save() {
      for (const [cacheFile, script] of uncached) writeCache(cacheFile, script.createCachedData());
      uncached.clear();
    },
  };
}

const wrapper = {
  start: Buffer.from('(function (exports, require, module, __filename, __dirname) { '),
  end: Buffer.from('\n})'),
};

const nothing = Buffer.alloc(0);

/** A file with what goes before and after it. */
function readBetween(start: Buffer, file: string, end: Buffer): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const { buffer } = ownMemory(start.length + fstatSync(descriptor).size + end.length);
    const bytes = Buffer.from(buffer);
    let at = start.copy(bytes);
    for (let read = 1; read > 0 && at < bytes.length - end.length; at += read)
      read = readSync(descriptor, bytes, { offset: at, length: bytes.length - end.length - at });
    at += end.copy(bytes, at);
    return bytes.subarray(0, at);
  } finally {
    closeSync(descriptor);
  }
}

/** Before the code, which V8 copies unless it is aligned to eight bytes. */
const checksumBytes = 8;

/** V8 does not notice damaged code. */
function readCache(file: string): Buffer | undefined {
  try {
    const bytes = readBetween(nothing, file, nothing);
    const code = bytes.subarray(checksumBytes);
    return bytes.readUInt32LE(0) === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function writeCache(file: string, code: Buffer): void {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(code));
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, Buffer.concat([checksum, code]), { mode: 0o600 });
    renameSync(fresh, file);
  } catch {
    // Without a cache the next start takes longer.
  }
}
