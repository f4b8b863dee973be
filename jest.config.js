/**
 * One configuration for every project. Suffixes tell what a test needs: `*.spec.ts` nothing, `*.redis.spec.ts` the
 * Redis of this run (`tools/src/test-redis.ts`), `*.e2e.spec.ts` the built apps as real processes.
 */
const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true, tsx: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

/** @type {import('jest').Config} */
module.exports = {
  rootDir: __dirname,
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools', '<rootDir>/e2e'],
  testMatch: ['**/src/**/*.spec.ts'],
  testEnvironment: 'node',
  // Nest 12 is ES modules and the OTLP exporter imports while it runs; Jest runs CommonJS, so swc translates them as well.
  transform: { '^.+\\.(ts|tsx|js|mjs)$': ['@swc/jest', swc] },
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/|@opentelemetry/otlp-)'],
  // Libraries are read from their sources: no build before a test. `import` must not be in this list.
  testEnvironmentOptions: { customExportConditions: ['@mailroom/source', 'node', 'require', 'default'] },
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.cache/', '<rootDir>/.nx/'],
  globalSetup: '<rootDir>/tools/src/jest-global-setup.ts',
  globalTeardown: '<rootDir>/tools/src/jest-global-teardown.ts',
  reporters: ['default', '<rootDir>/tools/test-reporter.js'],
  maxWorkers: 2,
  testTimeout: 15_000,
};
