import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

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
    const text = readFileSync(filename);
    const cacheFile = cacheFolder && join(cacheFolder, `gateway-${name}-${crc32(text).toString(16)}`);
    const cachedData = cacheFile && readCache(cacheFile);
    const wrapped = Buffer.concat([wrapper.start, text, wrapper.end]);
    // Joined as bytes, a long text is kept once, outside of V8's heap.
    const code = wrapped.toString('latin1');
    free(wrapped);
    const script = compile(() => new Script(code, { filename, ...(cachedData && { cachedData }) }));
    free(text);
    if (cachedData) free(cachedData);
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

const sharedBytesMax = 64 * 1024;

const wrapper = {
  start: Buffer.from('(function (exports, require, module, __filename, __dirname) { '),
  end: Buffer.from('\n})'),
};

/** Frees the memory of a large buffer now: as garbage, it would stay until the first full collection. */
function free({ buffer, byteLength }: Buffer): void {
  // Small ones share memory with others.
  if (byteLength >= sharedBytesMax && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

const checksumBytes = 4;

/** V8 does not notice damaged code. */
function readCache(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
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
