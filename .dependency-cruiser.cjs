/**
 * The arrows of the architecture point down: apps → hosting → runtime → capabilities, mailbox, llm → contracts.
 * A project is named by its folder; what it may import is listed, everything else is an error.
 */
const ALLOWED = {
  'libs/contracts': [],
  'libs/mailbox': ['libs/contracts'],
  'libs/llm': ['libs/contracts'],
  'libs/capabilities': ['libs/contracts'],
  'libs/runtime': ['libs/contracts', 'libs/mailbox', 'libs/llm', 'libs/capabilities'],
  'libs/hosting': ['libs/contracts', 'libs/mailbox', 'libs/llm', 'libs/capabilities', 'libs/runtime'],
  'apps/gateway': ['libs'],
  'apps/worker': ['libs'],
  'apps/scripted-model': [],
  tools: ['libs/contracts'],
  e2e: ['libs/contracts', 'tools'],
};

/** Each vendor has one home; specs may use it to look from outside. */
const VENDORS = {
  ioredis: ['libs/mailbox'],
  bullmq: ['libs/hosting', 'apps/gateway', 'apps/worker'],
  openai: ['libs/llm'],
  undici: ['libs/llm'],
  'gpt-tokenizer': ['libs/llm'],
  '@pydantic': ['libs/llm'],
  '@nestjs': ['apps/gateway', 'apps/worker'],
  '@bull-board': ['apps/gateway'],
  minisearch: ['libs/capabilities'],
};

/** Tests may start the real processes and the scripted model; bench and fault programme look at Redis and BullMQ directly. */
const OUTSIDE = '\\.spec\\.ts$|/testing/|^tools/src/(?:bench|faults)|^e2e/';

const folder = (name) => `^${name}/`;

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-resolvable',
      comment: 'An import that leads nowhere: misspelt, or missing in the package.json of the project.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-undeclared-package',
      comment: 'Every package that a project imports stands in its own package.json.',
      severity: 'error',
      from: { pathNot: OUTSIDE },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    ...Object.entries(ALLOWED).map(([name, allowed]) => ({
      name: `arrows-down-from-${name.replace('/', '-')}`,
      comment: 'Imports go down only: contracts ← mailbox, llm, capabilities ← runtime ← hosting ← apps.',
      severity: 'error',
      from: { path: folder(name), pathNot: OUTSIDE },
      to: { path: '^(libs|apps|tools|e2e)/', pathNot: [name, ...allowed].map(folder) },
    })),
    {
      name: 'only-the-index',
      comment:
        'Another project is imported by its name (@mailroom/…), which leads to its index, never by a path into it.',
      severity: 'error',
      from: { path: '^((?:libs|apps)/[^/]+|tools|e2e)/' },
      to: { path: '^(libs|apps|tools|e2e)/', pathNot: ['^$1/', '/src/(?:testing/)?index\\.ts$'] },
    },
    {
      name: 'no-spec-in-product-code',
      severity: 'error',
      from: { pathNot: OUTSIDE },
      to: { path: '\\.spec\\.ts$|/testing/' },
    },
    ...Object.entries(VENDORS).map(([vendor, homes]) => ({
      name: `vendor-${vendor.replace('@', '')}`,
      comment: `${vendor} is known to ${homes.join(', ')} only.`,
      severity: 'error',
      from: { pathNot: [...homes.map(folder), OUTSIDE] },
      to: { path: `node_modules/${vendor}/` },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@mailroom/source', 'node', 'require', 'import', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
    },
    cache: false,
  },
};
