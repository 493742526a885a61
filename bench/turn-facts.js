// @ts-check -- typed, so that a field that the program adds is not forgotten here

/** @type {import('../src/state/index.ts').RunSettings} */
export const SETTINGS = {
  workers: 1,
  mode: 'subprocess',
  modeByAuto: false,
  agent: 'claude',
  ownership: 'enforce',
  gates: [],
  caps: { run: null, task: null },
};

/** @type {import('../src/orchestrator/plan.ts').Policy} */
export const POLICY = {
  attempts: 3,
  losses: 5,
  backoffMs: 1000,
  silentMs: 60_000,
  startFailures: 3,
  setup: false,
  singleUse: false,
  verifyAfresh: false,
};

/** @type {Omit<import('../src/orchestrator/plan.ts').WorkerView, 'attempt'>} */
export const BUSY = {
  alive: true,
  exit: null,
  overLimit: false,
  phase: 'running',
  heartbeatAt: null,
  silentMs: 0,
  result: null,
  claim: null,
  examining: false,
  setupFailure: null,
  pastSetup: true,
  retired: null,
  usage: null,
  trouble: null,
  takesCredentials: true,
  orchestratorAway: false,
  unreadable: null,
  lastLines: [],
};
