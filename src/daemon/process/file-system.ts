import { statfsSync } from 'node:fs';

/** By the numbers of Linux, which are in linux/magic.h. */
const names = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x53464846, 'a drive of Windows'],
  [0x786f4256, 'a shared folder of VirtualBox'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
]);

/** File systems that often lack what a database needs, as the end of a sentence. */
export const unsuited = 'NFS, SMB, 9p and the drives of Windows in WSL';

/** The way out. */
export const localFolder = 'a folder on a local disk with --data or GATEWAY_HOME';

/** The name of the file system of a folder, if it may lack locks, shared memory or permissions; undefined for any other. */
export function unsuitedFileSystem(
  path: string,
  typeOf: (path: string) => number = (each) => statfsSync(each).type,
): string | undefined {
  try {
    return names.get(typeOf(path) >>> 0);
  } catch {
    return undefined;
  }
}
