import { execFileSync } from 'node:child_process';
import { appendFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createProject } from '../support/project.ts';
import { scriptedAgent } from '../support/scripted-agent.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const SCRIPT = `// Names the files below a folder that have more lines than a limit, longest first. Tests are not counted.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const [folder = 'src', limit = '250'] = process.argv.slice(2);
const sizes = readdirSync(folder, { recursive: true })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({ file, lines: readFileSync(path.join(folder, file), 'utf8').split('\\n').length - 1 }))
  .filter(({ lines }) => lines > Number(limit))
  .toSorted((one, other) => other.lines - one.lines);
for (const { file, lines } of sizes) console.log(\`\${lines} \${path.join(folder, file)}\`);
process.exitCode = sizes.length > 0 ? 1 : 0;
`;

const TEST = `import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/file-sizes.js', import.meta.url));

it('files that are too long are named, longest first, and tests are not', () => {
  const folder = tempFolder();
  for (const [name, lines] of Object.entries({ 'a.ts': 4, 'b.ts': 5, 'c.ts': 3, 'd.test.ts': 9 }))
    writeFileSync(path.join(folder, name), 'x\\n'.repeat(lines));
  const run = (limit: string): unknown => {
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, folder, limit], { encoding: 'utf8' });
    return [status, stdout];
  };
  expect(run('3')).toEqual([1, \`5 \${path.join(folder, 'b.ts')}\\n4 \${path.join(folder, 'a.ts')}\\n\`]);
  expect(run('5')).toEqual([0, '']);
});
`;

/** A script that writes a file, whatever is in it. */
const writing = (file: string, text: string): string => `cat > ${file} <<'END_OF_FILE'\n${text}END_OF_FILE`;

/** Set-up needs the npm of the user who runs the tests: registry, certificates and downloads. */
const NPM = {
  npm_config_userconfig: path.join(homedir(), '.npmrc'),
  npm_config_cache: path.join(homedir(), '.npm'),
};

it('this project builds a feature of its own, with its own settings, set-up and gates', async () => {
  const project = await createProject({ env: NPM });
  onTestFinished(() => project.remove());
  execFileSync('git', ['fetch', '--quiet', '--depth=1', `file://${ROOT}`, 'HEAD'], { cwd: project.folder });
  project.git('reset', '--quiet', '--hard', 'FETCH_HEAD');
  const agent = await scriptedAgent(project, {
    'SIZES-L1-001': [
      `${writing('scripts/file-sizes.js', SCRIPT)}\n${writing('test/integration/file-sizes.test.ts', TEST)}`,
    ],
    'SIZES-L1-002': ["echo 'node scripts/file-sizes.js   names the files that are too long' >> AGENTS.md"],
  });
  const config = path.join(project.folder, '.mahabharatha', 'config.yaml');
  // All of the project's own settings hold; only the agent is another one, and of all unit tests, which run beside this
  // test anyway, those of one room are enough.
  const own = await readFile(config, 'utf8');
  for (const replaced of ['\nagent: claude\n', ' vitest run src\n']) expect(own).toContain(replaced);
  await project.config(own.replace('\nagent: claude\n', '\n').replace(' vitest run src\n', ' vitest run src/tasks\n'));
  await appendFile(config, agent);
  const { exit, stdout, stderr } = await project.cli('kurukshetra', '--feature', 'file-sizes', '--workers', '1');
  expect(exit, `${stdout}\n${stderr}`).toBe(0);
  expect(stdout).toContain('gates green: format, lint and types, import rules and dead code, unit tests');
  const branch = 'mahabharatha/file-sizes/integration';
  expect(
    project
      .git('diff', '--name-only', 'HEAD', branch)
      .split('\n')
      .filter((file) => file !== ''),
  ).toEqual(['AGENTS.md', 'scripts/file-sizes.js', 'test/integration/file-sizes.test.ts']);
});
