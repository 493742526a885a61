/** Rank of each folder under src/: a folder imports only from a lower rank. */
const RANK = {
  lib: 0,
  config: 1,
  tasks: 1,
  protocol: 1,
  npm: 1,
  client: 1,
  page: 1,
  engines: 2,
  git: 2,
  state: 2,
  logs: 2,
  trust: 2,
  agents: 2,
  lease: 2,
  supervise: 2,
  guard: 2,
  credentials: 2,
  'egress/target': 2,
  'egress/rules': 3,
  'egress/proxy': 3,
  'egress/door': 3,
  images: 3,
  mail: 3,
  containers: 4,
  launchers: 5,
  snapshots: 5.5,
  shells: 5.7,
  orchestrator: 6,
  planning: 6,
  report: 6,
  worker: 6,
  sandbox: 6,
  'sandbox-agent': 6,
  code: 6.5,
  project: 7,
  preload: 7,
  http: 8,
  mcp: 8,
  cli: 9,
};
/** Never inside a container. */
const HOST_ONLY =
  '^src/(cli|mcp|http|guard|project|preload|code|sandbox|planning|report|orchestrator|containers|snapshots|shells|launchers|mail|engines|images|credentials|npm|trust|egress/rules)/';
const PURE_IN_ORCHESTRATOR = [
  'decide[a-z-]*',
  'backoff',
  'first-state',
  'plan',
  'reduce[a-z-]*',
  'change-state',
  'action-events',
  'retryable',
  'survey',
  'trial',
];
const PURE = `^src/(tasks/|protocol/|report/|orchestrator/(${PURE_IN_ORCHESTRATOR.join('|')})[.]ts$|project/decide-mode[.]ts$|config/(schema|serve-schema|serve-defaults|mcp-schema|amounts)[.]ts$|lib/(app-error|text/(amounts|json|nearest|printable|shape|words))[.]ts$|[a-z-]+/errors[.]ts$)`;
const TEST = '[.]test[.]ts$|^test/';
const VENDOR = {
  yaml: '(config/|project/graph-(edit|lines|text)[.]ts)',
  commander: 'cli/',
  fastify: 'http/',
  ws: 'http/',
  pino: 'http/',
  '@modelcontextprotocol': 'mcp/',
  '@swc': 'preload/child/',
  '@codemirror': 'page/',
  '@xterm': 'page/',
  'get-east-asian-width': 'cli/render/',
};

const dir = (name) => `^src/${name}/`;
const below = (name) => Object.keys(RANK).filter((other) => RANK[other] < RANK[name]);
const no = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { ...from, pathNot: [].concat(from.pathNot ?? [], TEST) },
  to,
});

module.exports = {
  forbidden: [
    no('no-circular', { path: '^src/' }, { circular: true }),
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: ['/main[.]ts$', TEST] }, to: {} },
    no('src-not-to-test', { path: '^src/' }, { path: TEST }),
    no('resolvable', {}, { couldNotResolve: true }),
    no('folders-have-a-rank', { path: '^src/', pathNot: Object.keys(RANK).map(dir) }, {}),
    ...Object.keys(RANK).map((name) =>
      no(`rank/${name}`, { path: dir(name) }, { path: '^src/', pathNot: [name, ...below(name)].map(dir) }),
    ),
    ...Object.keys(RANK)
      .filter((name) => name !== 'lib')
      .map((name) =>
        no(
          `door/${name}`,
          { path: '^src/', pathNot: dir(name) },
          { path: dir(name), pathNot: `${dir(name)}(index|errors)[.]ts$` },
          'a room is entered by index.ts; errors.ts, its codes in words, is pure and open to all above it',
        ),
      ),
    no(
      'ports-are-types',
      { path: dir('orchestrator') },
      {
        path: '^src/(engines|images|git|state|logs|mail|containers|snapshots|launchers)/',
        pathNot: '/errors[.]ts$',
        dependencyTypesNot: ['type-only'],
      },
      'the orchestrator sees adapters as types only, and their error codes; project/wire.ts hands it the values',
    ),
    no('pure', { path: PURE }, { dependencyTypes: ['core', 'npm', 'npm-dev'], pathNot: 'node_modules/zod/' }),
    no('pure-local', { path: PURE }, { path: '^src/', pathNot: PURE, dependencyTypesNot: ['type-only'] }),
    no(
      'pure/egress/target',
      { path: dir('egress/target') },
      { dependencyTypes: ['core', 'npm', 'npm-dev'], pathNot: '^(node:)?net$' },
      'node:net tells addresses from names; all else would be I/O',
    ),
    no(
      'container-side',
      { path: '^src/(worker|sandbox-agent|lease|supervise|egress/(target|proxy|door))/' },
      { path: HOST_ONLY },
    ),
    no(
      'small-zod',
      {
        path: '^src/(protocol|agents|git|logs|worker|sandbox-agent|lease|supervise|egress/(target|proxy|door))/|^src/lib/text/json[.]ts$',
      },
      { path: 'node_modules/zod/(?!mini/)', dependencyTypesNot: ['type-only'] },
      'programs of containers start often: there all of zod takes a processor 11 ms, zod/mini a small part of that',
    ),
    ...Object.entries(VENDOR).map(([vendor, home]) =>
      no(`vendor/${vendor}`, { path: '^src/', pathNot: `^src/${home}` }, { path: `node_modules/(@types/)?${vendor}/` }),
    ),
    no(
      'processes-have-one-home',
      { path: '^src/', pathNot: '^src/(lib/process|sandbox-agent/launch)[.]ts$' },
      { path: '^(node:)?child_process$' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
};
