/**
 * Who may import what. Each rule says why; `test/architecture.test.ts` runs them, and proves with planted files that
 * they bite.
 * @type {import('dependency-cruiser').IConfiguration}
 */
// biome-ignore lint/style/noDefaultExport: the tool reads the default export.
export default {
  forbidden: [
    {
      name: 'shared-is-the-ground-floor',
      comment: 'Shared code imports nothing of ours, so that both programs can build on it.',
      severity: 'error',
      from: { path: '^src/shared/' },
      to: { path: '^src/(cli|daemon)/' },
    },
    {
      name: 'shared-does-no-io',
      comment: 'Shared code is pure: whoever uses it hands in clock, randomness and network.',
      severity: 'error',
      from: { path: '^src/shared/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'cli-and-daemon-meet-over-http',
      comment: 'The CLI works the same against a remote host, so it may not reach into the daemon, nor the other way.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/daemon/' },
    },
    {
      name: 'daemon-knows-no-cli',
      comment: 'The daemon is also started by service managers and tests.',
      severity: 'error',
      from: { path: '^src/daemon/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'features-see-no-edges',
      comment: 'A feature states its needs as interfaces; http, storage and upstream implement them.',
      severity: 'error',
      from: { path: '^src/daemon/features/' },
      to: { path: '^src/daemon/(?!features/|world\\.ts|handler\\.ts)' },
    },
    {
      name: 'features-use-front-doors',
      comment: 'Another feature is entered through its index.ts, so that its inside can change.',
      severity: 'error',
      from: { path: '^src/daemon/features/([^/]+)/' },
      to: { path: '^src/daemon/features/[^/]+/', pathNot: '^src/daemon/features/($1/|[^/]+/index\\.ts$)' },
    },
    {
      name: 'edges-serve-the-middle',
      comment: 'Storage and upstream know the shapes of features, not their code.',
      severity: 'error',
      from: { path: '^src/daemon/(storage|upstream)/' },
      to: {
        path: '^src/daemon/features/',
        pathNot: '^src/daemon/features/inference/upstream\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'http-knows-no-feature',
      comment: 'The server is handed handlers; a new feature changes nothing in it.',
      severity: 'error',
      from: { path: '^src/daemon/http/' },
      to: { path: '^src/daemon/(features|storage|upstream)/' },
    },
    {
      name: 'fastify-lives-in-http',
      comment: 'A library with many users in the code cannot be replaced.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/daemon/http/' },
      to: { path: 'node_modules/fastify/' },
    },
    {
      name: 'sql-lives-in-storage',
      comment: 'A second engine is an added folder, not a rewrite.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/daemon/storage/' },
      to: { path: 'node_modules/(drizzle-orm|better-sqlite3)/' },
    },
    {
      name: 'network-lives-in-upstream',
      comment: 'One chokepoint for outgoing calls: what it refuses, nobody can send.',
      severity: 'error',
      from: { path: '^src/daemon/', pathNot: '^src/daemon/upstream/network' },
      to: { path: 'node_modules/undici/' },
    },
    {
      name: 'no-cycles',
      comment: 'Of two rooms, one is in charge.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-development-packages-in-production',
      comment: 'What is published must run without them.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'nothing-imports-tests',
      comment: 'Tests see the program; the program does not see tests.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
