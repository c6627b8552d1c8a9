import type { Plugin } from 'rolldown';

/** The sources load Drizzle's CommonJS build, which is faster to find as a package; bundled, only what is used is read. */
export const drizzle: Plugin = {
  name: 'drizzle',
  transform(code, id) {
    if (!id.endsWith('/storage/sqlite/engine/orm.ts')) return null;
    const imports = code.replace(
      /^const (\w+) = require\('(drizzle-orm[^']*)'\) as .*;$/gm,
      "import * as $1 from '$2';",
    );
    if (imports === code) throw new Error('orm.ts does not load Drizzle as expected');
    return imports;
  },
};
