/** What `mahabharatha serve` says and is told, as its OpenAPI document has it. */
export type RuntimeType = 'node' | 'python' | 'shell' | (string & {});

export interface RunnerSession {
  readonly session_id: string;
  readonly workspace_path: string;
}

export interface ExecRequest {
  /** Left out: the set-up and the default command of the runtime. */
  readonly command?: string;
  readonly timeout_s?: number;
  readonly reset_cwd?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** A file of the workspace with more variables, say ".env". */
  readonly env_file?: string;
}

export interface ExecEnd {
  readonly exit_code: number;
  readonly cwd: string;
  readonly duration_ms: number;
  readonly timed_out: boolean;
  readonly killed: boolean;
  readonly cpu_ms: number;
  readonly memory_peak_mb: number;
  readonly out_of_memory: boolean;
  /** The container had ended, so that the command ran in a new, empty workspace. */
  readonly workspace_lost: boolean;
}

export interface ExecResult extends ExecEnd {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
}

export interface IDEFile {
  readonly path: string;
  readonly content: string;
  /** Default: utf8. */
  readonly encoding?: 'utf8' | 'base64';
  readonly executable?: boolean;
}

/** What is in a workspace. */
export interface WorkspaceEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
  /** Say "644". */
  readonly mode: string;
  /** Null for what is no file, or could not be read. */
  readonly sha256: string | null;
  readonly problem: string | null;
}

export interface FileContent {
  readonly content: string;
  readonly size: number;
  readonly encoding: 'utf8' | 'base64';
  /** There is more of it. */
  readonly truncated: boolean;
}

/** A part of a command's output. */
export interface ExecOutput {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export interface SessionOptions {
  /** True: all hosts that the server allows; a list: some of them. Default: no network. */
  readonly network?: boolean | readonly string[];
  /** Its node_modules and .venv are kept for the next session of the project. Default: false. */
  readonly cache?: boolean;
}

export interface IRunnerClient {
  createSession(projectId: string, runtimeType: RuntimeType, options?: SessionOptions): Promise<RunnerSession>;
  exec(sessionId: string, req: ExecRequest): Promise<ExecResult>;
  syncWorkspace(sessionId: string, files: readonly IDEFile[]): Promise<void>;
  killProcess(sessionId: string): Promise<void>;
  destroySession(sessionId: string): Promise<void>;
}

/** The server's answer was no success. */
export class RunnerError extends Error {
  override readonly name = 'RunnerError';
  readonly status: number;
  /** One word for programs, say SESSION_UNKNOWN. */
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}
