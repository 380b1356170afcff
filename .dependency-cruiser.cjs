/** Allowed directions of imports, one rule a sentence. */
const PURE = '(-rules|\\.port|/errors|/actor|/pattern-work)\\.ts$';

/** Areas of the product, from the ground up. */
const AREAS = [
  'kernel',
  'events',
  'identity',
  'documents',
  'mocks',
  'projects',
  'code',
  'orgs',
  'delivery',
  'review',
  'work',
  'ci',
  'people',
  'insight',
];
const layersOf = (areas) => `^(domain|api|workflows|activities)/(${areas.join('|')})/`;
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...AREAS.slice(0, -1).map((area, at) => ({
      name: `${area}-imports-downwards`,
      severity: 'error',
      from: { path: layersOf([area]) },
      to: { path: layersOf(AREAS.slice(at + 1)) },
    })),
    {
      name: 'domain-imports-domain-only',
      severity: 'error',
      from: { path: '^domain/' },
      to: { path: '^(api|workflows|activities|test|migrations|tools|bench)/' },
    },
    {
      name: 'rules-and-ports-are-pure',
      severity: 'error',
      from: { path: `^domain/.*${PURE}` },
      to: { pathNot: `^domain/.*${PURE}` },
    },
    {
      name: 'workflows-see-rules-only',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^domain/', pathNot: PURE, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-see-activity-types-only',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^(activities|api)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflow-code-imports-the-workflow-package-only',
      severity: 'error',
      from: { path: '^workflows/.*\\.workflow\\.ts$' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: '@temporalio/workflow' },
    },
    {
      name: 'contracts-are-plain-data',
      severity: 'error',
      from: { path: '^workflows/(launch|.*\\.contract)\\.ts$' },
      to: { dependencyTypes: ['npm', 'core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'temporal-client-and-worker-at-the-edge',
      severity: 'error',
      from: {
        path: '^(api|activities|domain|workflows)/',
        pathNot:
          '^(workflows/(temporal-[a-z]+|schedules)|activities/(overrides/workflow-thread|worker|worker-runtime|main|registry|deps|bundle-workflows))\\.ts$',
      },
      to: { path: 'node_modules/@temporalio/(client|worker)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'api-sees-contracts-only',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/main\\.ts$' },
      to: { path: '^workflows/', pathNot: '(\\.contract|/launch)\\.ts$' },
    },
    {
      name: 'api-never-imports-activities',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/(main|server|base|[a-z]+/parts)\\.ts$' },
      to: { path: '^activities/' },
    },
    {
      name: 'adapters-from-composition-roots-only',
      severity: 'error',
      from: {
        pathNot:
          '^(api/(main|[a-z]+/parts)|activities/(main|browser-host/(main|host-backend)|[a-z]+/parts|stores|adapters/.*)|tools/backup/(backup|restore)-command)\\.ts$',
      },
      to: { path: '^activities/adapters/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'koa-stays-in-http',
      severity: 'error',
      from: { path: '^(domain|workflows|activities|api/(?!http/|app|main|server))' },
      to: { path: 'node_modules/(koa|@koa)' },
    },
    {
      name: 'http-knows-no-area',
      severity: 'error',
      from: { path: '^api/http/' },
      to: { path: `^api/(${AREAS.join('|')})/` },
    },
    {
      name: 'the-service-imports-no-client',
      severity: 'error',
      from: { path: '^(api|domain|workflows|activities|migrations)/' },
      to: { path: '^(clients/|console/|node_modules/@quayside/)' },
    },
    {
      name: 'the-client-imports-nothing',
      severity: 'error',
      from: { path: '^clients/typescript/' },
      to: { pathNot: '^clients/typescript/' },
    },
    {
      name: 'the-command-line-imports-the-client-as-a-package',
      severity: 'error',
      from: { path: '^clients/cli/' },
      to: { path: '^(api|domain|workflows|activities|migrations|tools|test|clients/typescript/src)/' },
    },
    {
      name: 'the-console-imports-the-client-as-a-package',
      severity: 'error',
      from: { path: '^console/', pathNot: '^console/vite' },
      to: {
        path: '^(api|domain|workflows|activities|migrations|tools|test|clients/typescript/src)/',
      },
    },
    {
      name: 'nothing-imports-tools',
      severity: 'error',
      from: { pathNot: '^(tools|bench)/' },
      to: { path: '^(tools|bench)/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^test/|/(dist|generated)/' },
  },
};
