import { RunnerError } from './types.ts';
import type { ExecRequest, ExecResult, IDEFile, IRunnerClient, RunnerSession, RuntimeType } from './types.ts';

interface MockSession extends RunnerSession {
  readonly files: Map<string, IDEFile>;
}

/** Answers as a server would, without one: what commands print comes from the test. */
export class MockRunnerClient implements IRunnerClient {
  readonly #answer: (req: ExecRequest) => Partial<ExecResult>;
  readonly #sessions = new Map<string, MockSession>();
  #last = 0;

  constructor(answer: (req: ExecRequest) => Partial<ExecResult> = () => ({})) {
    this.#answer = answer;
  }

  async createSession(projectId: string, _runtimeType: RuntimeType): Promise<RunnerSession> {
    this.#last += 1;
    const session_id = `session_${this.#last.toString(16).padStart(8, '0')}`;
    const session = { session_id, workspace_path: `/workspace/${projectId}`, files: new Map<string, IDEFile>() };
    this.#sessions.set(session_id, session);
    return { session_id, workspace_path: session.workspace_path };
  }

  async exec(sessionId: string, req: ExecRequest): Promise<ExecResult> {
    const { workspace_path: cwd } = this.#session(sessionId);
    const result = { ...NOTHING, cwd, ...this.#answer(req) };
    return { ...result, ok: result.exit_code === 0 };
  }

  async syncWorkspace(sessionId: string, files: readonly IDEFile[]): Promise<void> {
    const session = this.#session(sessionId);
    for (const file of files) session.files.set(file.path, file);
  }

  /** What was sent to a session. */
  filesOf(sessionId: string): readonly IDEFile[] {
    return [...this.#session(sessionId).files.values()];
  }

  async killProcess(sessionId: string): Promise<void> {
    this.#session(sessionId);
  }

  async destroySession(sessionId: string): Promise<void> {
    this.#session(sessionId);
    this.#sessions.delete(sessionId);
  }

  #session(id: string): MockSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new RunnerError(404, 'SESSION_UNKNOWN', `There is no session ${id}.`);
    return session;
  }
}

const NOTHING = {
  stdout: '',
  stderr: '',
  stdout_truncated: false,
  stderr_truncated: false,
  exit_code: 0,
  duration_ms: 0,
  timed_out: false,
  killed: false,
  cpu_ms: 0,
  memory_peak_mb: 0,
  out_of_memory: false,
  workspace_lost: false,
};
