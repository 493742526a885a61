import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CLI, runProgram } from './program.js';

const FEATURE = 'bench';
const WORKERS = 4;

/** Gives `work` a new empty folder, which is gone afterwards however the work ends. */
export async function inTempFolder(work) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Makes a throw-away repository with one level of `count` tasks that each run `command(file)`. */
export function makeFeature(folder, wishes) {
  newRepository(folder);
  writeFeature(folder, wishes);
}

export function newRepository(folder) {
  git(folder, ['init', '--quiet']);
  git(folder, ['commit', '--quiet', '--allow-empty', '--message', 'first']);
}

/** How many files of tasks are in a commit. */
export function mergedFiles(folder, commit) {
  const names = git(folder, ['ls-tree', '--name-only', commit]).split('\n');
  return names.filter((name) => name.startsWith('file-')).length;
}

/** Makes a repository of the files in the folder. */
export function commitFiles(folder) {
  git(folder, ['init', '--quiet']);
  git(folder, ['add', '.']);
  git(folder, ['commit', '--quiet', '--message', 'first']);
}

export function writeFeature(folder, { count, command, verify, feature = FEATURE }) {
  const tasks = Array.from({ length: count }, (_, index) => ({
    ...taskOf(index, command),
    ...(verify === undefined ? {} : { verification: { command: verify } }),
  }));
  const specs = path.join(folder, '.mahabharatha', 'specs', feature);
  mkdirSync(specs, { recursive: true });
  writeFileSync(path.join(specs, 'task-graph.json'), JSON.stringify({ feature, version: '2.0', tasks }));
}

function taskOf(index, command) {
  const file = `file-${index}.txt`;
  return { id: `T${index}`, title: `write ${file}`, level: 1, files: { create: [file] }, run: command(file) };
}

/**
 * Builds the feature and returns what the run took and wrote. A fast run with a missing file is not a fast run: that
 * throws.
 */
export async function buildFeature(
  folder,
  { count, env = process.env, mode = 'subprocess', workers = WORKERS, feature = FEATURE },
) {
  const startedAt = Date.now();
  const started = performance.now();
  const args = [CLI, 'kurukshetra', '--feature', feature, '--mode', mode, '--workers', String(workers)];
  await runProgram(process.execPath, args, { cwd: folder, env });
  const totalMs = performance.now() - started;
  const endedAt = Date.now();
  const found = mergedFiles(folder, `mahabharatha/${feature}/integration`);
  if (found !== count) throw new Error(`the run merged ${found} of ${count} files`);
  return {
    totalMs,
    startedAt,
    endedAt,
    events: readEvents(folder, feature),
    workerLogs: readWorkerLogs(folder, feature),
  };
}

/** Builds a new feature in a new repository, which is removed. */
export async function buildOnce({ count, command, verify, mode, workers }) {
  return inTempFolder(async (folder) => {
    makeFeature(folder, { count, command, verify });
    return buildFeature(folder, { count, mode, workers });
  });
}

function readEvents(folder, feature) {
  return readJsonLines(path.join(folder, '.mahabharatha', 'state', feature, 'events.jsonl'));
}

function readWorkerLogs(folder, feature) {
  const logs = path.join(folder, '.mahabharatha', 'logs', feature);
  return readdirSync(logs)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readJsonLines(path.join(logs, name)));
}

function readJsonLines(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').map(JSON.parse);
}

function git(cwd, args) {
  const plain = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...plain, ...args], { cwd, encoding: 'utf8' });
}
