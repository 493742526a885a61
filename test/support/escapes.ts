import { builtinModules } from 'node:module';

/** Ways out of sandboxes of JavaScript that are known, by what they use; each returns something when it has worked. */
export interface Escape {
  readonly name: string;
  /** The body of an async function. */
  readonly code: string;
  /** It works in a Node without a sandbox: so it is no attack in name alone. */
  readonly worksInPlainNode: boolean;
}

const READ = "readFileSync(process.env.SECRET, 'utf8')";
const KILL = 'process.kill(Number(process.env.VICTIM), 0)';
const CONNECT = `new Promise((resolve, reject) => {
  const socket = net.connect(Number(process.env.PORT), '127.0.0.1', () => resolve('connected'));
  socket.on('error', reject);
})`;

/** They work in plain Node. */
const REAL: Readonly<Record<string, string>> = {
  'import of node:fs': `return (await import('node:fs')).${READ}`,
  'import of fs without node:': `return (await import('fs')).${READ}`,
  'import of node:fs/promises': "return (await import('node:fs/promises')).readFile(process.env.SECRET, 'utf8')",
  'import by a variable': `const name = ['node', 'fs'].join(':'); return (await import(name)).${READ}`,
  'import of an object with toString': `return (await import({ toString: () => 'node:fs' })).${READ}`,
  'import of a specifier that changes': `let n = 0; return (await import({ toString: () => (n++ ? 'fs' : 'node:fs') })).${READ}`,
  'data: URL': `const url = 'data:text/javascript,export { readFileSync } from "node:fs"'; return (await import(url)).${READ}`,
  'file: URL': "return JSON.stringify(await import('file://' + process.env.SECRET + '.mjs'))",
  'absolute path': "return JSON.stringify(await import(process.env.SECRET + '.mjs'))",
  'import of JSON':
    "return JSON.stringify((await import('file://' + process.env.SECRET + '.json', { with: { type: 'json' } })).default)",
  'import.meta.resolve': "return import.meta.resolve('node:fs')",
  createRequire: `return (await import('node:module')).createRequire('/x.js')('fs').${READ}`,
  'Module._load': `return (await import('node:module')).default._load('fs').${READ}`,
  'Module.prototype.require': `return new (await import('node:module')).Module('x').require('fs').${READ}`,
  'Module.prototype._compile': `const m = new (await import('node:module')).Module('x'); m._compile("module.exports = require('fs')", '/x.js'); return m.exports.${READ}`,
  'module.register': "(await import('node:module')).register('data:text/javascript,'); return 'registered'",
  'process.getBuiltinModule': `return process.getBuiltinModule('fs').${READ}`,
  'process.binding': "return Object.keys(process.binding('fs'))[0]",
  'process.binding of sockets': "return new (process.binding('tcp_wrap').TCP)(0).constructor.name",
  'process.dlopen':
    "try { process.dlopen({ exports: {} }, process.env.SECRET) } catch (error) { if (error.code === 'ERR_DLOPEN_FAILED') return 'tried'; throw error }",
  'process.kill': `return ${KILL}`,
  'process._kill': 'return String(process._kill(Number(process.env.VICTIM), 0))',
  'process.kill by import': "return (await import('node:process')).kill(Number(process.env.VICTIM), 0)",
  'process.chdir': "process.chdir('/'); return process.cwd()",
  'process.umask': 'return String(process.umask())',
  'process.setuid': 'process.setuid(process.getuid()); return "set"',
  'process.report': 'return process.report.getReport().header.cwd',
  'process.ppid': 'return process.ppid',
  'process.execPath': 'return process.execPath.startsWith("/") ? process.execPath : undefined',
  'process.argv': 'return process.argv.find((word) => word.startsWith("/") && !word.startsWith("/code/"))',
  'process._getActiveHandles': 'process.stdout; return process._getActiveHandles().length',
  'process.openStdin': 'return process.openStdin().pause().constructor.name',
  'process.allowedNodeEnvironmentFlags': 'return String(process.allowedNodeEnvironmentFlags.size)',
  'process.loadEnvFile': 'process.loadEnvFile(process.env.SECRET); return "loaded"',
  'variables of the server': 'return process.env.OF_SERVER',
  '/proc/self/environ': "return (await import('node:fs')).readFileSync('/proc/self/environ', 'latin1')",
  '/etc/passwd': "return (await import('node:fs')).readFileSync('/etc/passwd', 'utf8')",
  'a file in the working folder': "(await import('node:fs')).writeFileSync('file', '1'); return 'written'",
  'a file elsewhere': "(await import('node:fs')).writeFileSync(process.env.BELOW + '/file', '1'); return 'written'",
  'child process':
    "return (await import('node:child_process')).execFileSync('echo', ['started'], { encoding: 'utf8' })",
  shell: "return (await import('node:child_process')).execSync('echo started', { encoding: 'utf8' })",
  'fork storm':
    "const { spawn } = await import('node:child_process'); for (let i = 0; i < 3; i++) spawn('true'); return 'storm'",
  worker:
    "const { Worker } = await import('node:worker_threads'); await new Worker('', { eval: true }).terminate(); return 'worker'",
  cluster: "return String((await import('node:cluster')).default.isPrimary)",
  inspector:
    "const { Session } = await import('node:inspector'); const s = new Session(); s.connect(); return 'connected'",
  'inspector by a port':
    "const inspector = await import('node:inspector'); inspector.open(0); const url = inspector.url(); inspector.close(); return url",
  vm: "return (await import('node:vm')).runInThisContext('typeof process')",
  v8: "(await import('node:v8')).setFlagsFromString('--no-lazy'); return 'set'",
  'heap snapshot': "return (await import('node:v8')).getHeapSnapshot().constructor.name",
  wasi: "return new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } }).constructor.name",
  os: "return (await import('node:os')).hostname()",
  async_hooks:
    "const hooks = await import('node:async_hooks'); hooks.createHook({ init() {} }).enable().disable(); return 'hooked'",
  diagnostics_channel: "return String((await import('node:diagnostics_channel')).channel('net.client.socket').name)",
  net: `const net = await import('node:net'); return ${CONNECT}`,
  'net server':
    "const net = await import('node:net'); return new Promise((resolve, reject) => { const s = net.createServer().on('error', reject).listen(0, () => s.close(() => resolve('listened'))) })",
  'unix socket':
    "const net = await import('node:net'); return new Promise((resolve, reject) => { const s = net.createServer().on('error', reject).listen(process.env.BELOW + '/socket', () => s.close(() => resolve('listened'))) })",
  tls: "return (await import('node:tls')).connect({ port: 1, host: '127.0.0.1' }).on('error', () => {}).constructor.name",
  http: "const http = await import('node:http'); return new Promise((resolve, reject) => { http.get({ port: process.env.PORT, host: '127.0.0.1' }).on('error', reject).on('response', resolve) })",
  http2: "return (await import('node:http2')).connect('http://127.0.0.1:1').on('error', () => {}).constructor.name",
  dgram:
    "const s = (await import('node:dgram')).createSocket('udp4'); return new Promise((resolve, reject) => s.on('error', reject).bind(0, () => { s.close(); resolve('bound') }))",
  dns: "return JSON.stringify(await (await import('node:dns/promises')).lookup('localhost'))",
  fetch: "await fetch('http://127.0.0.1:' + process.env.PORT); return 'asked'",
  'fetch of a data: URL': "return (await fetch('data:,x')).text()",
  'dispatcher of undici':
    "new Response(''); return globalThis[Symbol.for('undici.globalDispatcher.1')]?.constructor.name",
  'Function constructor': "return Function('return process')().pid",
  'constructor.constructor': `return [].constructor.constructor('return process')().pid`,
  'AsyncFunction constructor': `return (async () => {}).constructor("return (await import('node:fs')).${READ}")()`,
  'GeneratorFunction constructor': "return (function* () {}).constructor('yield process.pid')().next().value",
  eval: "return eval('process.pid')",
  'indirect eval': `return (await (0, eval)('import("node:fs")')).${READ}`,
  'handle of stdout':
    'process.stdout; const { _handle } = process.stdout; return _handle ? _handle.constructor.name : process.stdout.constructor.name === "SyncWriteStream" ? "file" : undefined',
  'class of stdout':
    'const { constructor } = process.stdout; return /Socket|WriteStream/.test(constructor.name) ? constructor.name : undefined',
  'class of the stream of console':
    'const { constructor } = console._stdout; return /Socket|WriteStream/.test(constructor.name) ? constructor.name : undefined',
  'class of stdin':
    'const { constructor } = process.stdin; return /Socket|ReadStream/.test(constructor.name) ? constructor.name : undefined',
  'fd of stdout': 'return process.stdout.fd ?? process.stdout._handle?.fd',
  'engine of crypto':
    "const { setEngine } = await import('node:crypto'); try { setEngine('/no/such') } catch (error) { if (error.code !== 'ERR_CRYPTO_ENGINE_UNKNOWN') throw error } return 'tried'",
  'crypto.setFips': "const crypto = await import('node:crypto'); return crypto.setFips?.name",
  'listener that learns this': `const { EventEmitter } = await import('node:events'); let found;
    const { emit } = EventEmitter.prototype; EventEmitter.prototype.emit = function (...args) { found = this; return emit.apply(this, args) };
    process.emitWarning('x'); await new Promise((resolve) => setTimeout(resolve, 5)); EventEmitter.prototype.emit = emit;
    return found && typeof found.binding === 'function' && Object.keys(found.binding('fs'))[0]`,
};

/** A class of Node, made by the clone of an object that asks for it. */
const cloned = (spec: string, then: string, clone = 'structuredClone(evil)'): string => `
  const { EventEmitter } = await import('node:events'); let found;
  const [clone, made] = ['messaging_clone_symbol', 'messaging_deserialize_symbol'].map((name) =>
    Object.getOwnPropertySymbols(Blob.prototype).find((symbol) => symbol.description === name));
  for (const { prototype } of [Object, EventEmitter]) try { prototype[made] = () => {} } catch {}
  for (const { prototype } of [Object, EventEmitter]) try { Object.defineProperty(prototype, made, { value() {} }) } catch {}
  const { init } = EventEmitter; try { EventEmitter.init = function (...args) { found ??= this; return init.apply(this, args) } } catch {}
  class Evil extends Blob { [clone]() { return { data: {}, deserializeInfo: '${spec}' } } }
  const evil = new Evil(['x']); try { ${clone} } catch (error) { if (!found) throw error } ${then}`;

/** They need a mistake of a sandbox. */
const TRICKS: Readonly<Record<string, string>> = {
  'clone that is a socket': cloned('net:Socket', 'return found.constructor.name'),
  'clone that is a process': cloned('internal/child_process:ChildProcess', 'return found.constructor.name'),
  'clone that is a datagram socket': cloned('dgram:Socket', 'return found.constructor.name'),
  'clone that is a request': cloned('http:ClientRequest', 'return found.constructor.name'),
  'clone in the detail of a mark': cloned(
    'net:Socket',
    'return found?.constructor.name',
    "performance.mark('x', { detail: evil })",
  ),
  'streams of WebAssembly': `await WebAssembly.compileStreaming(1).catch(() => {});
    return globalThis[Symbol.for('undici.globalDispatcher.1')]?.constructor.name ?? WebAssembly.instantiateStreaming`,
  'process.mainModule': 'return process.mainModule.require("fs")',
  'require.main and require.cache': 'return require.main ?? require.cache ?? require.extensions',
  'require of fs': "return require('fs')",
  'require of a path': "return require('/etc/passwd')",
  'require of an object that becomes a name': "return require({ toString: () => 'fs' })",
  'require of an array': "return require(['fs'])",
  'require by a polluted prototype': "Object.prototype.fs = { exports: 1 }; return require('fs')",
  'import by a polluted prototype':
    "Object.prototype['node:fs'] = { module: { namespace: 1 }, exports: 1 }; return import('node:fs')",
  'import of __proto__': "return import('__proto__')",
  'require of constructor': "return require('constructor')",
  'process._linkedBinding': "return process._linkedBinding('fs')",
  'process.execve': "return process.execve('/bin/true', [])",
  'process._debugProcess': 'return process._debugProcess(Number(process.env.VICTIM)) ?? "signalled"',
  'process of the prototype':
    'return Object.getPrototypeOf(process).binding ?? Object.getPrototypeOf(process).kill ?? new process.constructor().binding',
  internalBinding: "return internalBinding('fs')",
  primordials: 'return primordials',
  'bindings in globals':
    'return globalThis.internalBinding ?? globalThis.getInternalBinding ?? globalThis.getLinkedBinding',
  'call sites': `const found = []; const old = Error.prepareStackTrace;
    try { Error.prepareStackTrace = (_, sites) => { for (const s of sites) found.push(s.getThis(), s.getFunction()); return '' }; } catch { return }
    try { import('x').catch(() => {}); new Error('x').stack; await null; new Error('y').stack; null.x } catch (error) { error.stack }
    Error.prepareStackTrace = old; return found.find((each) => each !== undefined && each !== null)`,
  'callers of functions': 'return (function f() { return f.caller })()',
  'iterators of arrays': `let found; const { next } = Object.getPrototypeOf([][Symbol.iterator]()); const proto = Object.getPrototypeOf([][Symbol.iterator]());
    try { proto.next = function () { const r = next.call(this); if (r.value?.constructor?.name === 'SourceTextModule') found = r.value; return r } } catch {}
    await import('node:path'); return found`,
  'iterator method of arrays': `let found; const own = Array.prototype[Symbol.iterator];
    try { Array.prototype[Symbol.iterator] = function () { if (this.some((each) => each?.constructor?.name === 'SourceTextModule')) found = [...own.call(this)]; return own.call(this) } } catch {}
    await import('node:path'); return found`,
  'then of promises': `let found; const { then } = Promise.prototype;
    try { Promise.prototype.then = function (f, r) { return then.call(this, (v) => { if (/Module$/.test(v?.constructor?.name)) found = v; return f?.(v) }, r) }; Promise.prototype.constructor = class extends Promise {} } catch {}
    await import('node:path'); await Promise.resolve(); return found`,
  'patched maps and sets': `try { Map.prototype.has = Set.prototype.has = () => true; Map.prototype.get = () => ({}); String.prototype.startsWith = () => true; RegExp.prototype.test = () => true; Array.prototype.includes = () => true } catch {}
    return import('node:fs')`,
  'patched methods of functions': `let found; try { Function.prototype.call = Function.prototype.apply = Function.prototype.bind = function (...args) { found ??= args.find((a) => a === globalThis || typeof a?.binding === 'function'); return () => {} } } catch {}
    console.error(''); await import('node:path'); return found?.binding`,
  'setters on the prototype of objects': `const found = []; for (const key of ['_handle', 'handle', 'owner', 'onread', 'reader', 'binding', 'internalBinding', 'require'])
      try { Object.defineProperty(Object.prototype, key, { set(v) { found.push(v) }, get() {}, configurable: true }) } catch {}
    console.log(''); await import('node:path'); setTimeout(() => {}, 1); return found.find((each) => typeof each === 'function' && /Pipe|TCP|TTY|FSReqCallback/.test(each.name))`,
  'thenable module': "return import('node:path').then((m) => m.default.constructor.constructor('return process')())",
  'errors of the host':
    "try { await import('lodash') } catch (error) { return error.constructor.constructor('return process')() }",
  'stack overflow in the host': `function deep() { try { return deep() } catch { return import('node:fs') } } return deep()`,
  'proxy as a specifier': "return import(new Proxy({}, { get: () => () => 'node:fs' }))",
  'attributes of an import': "return import('node:fs', { with: { type: 'json' } })",
  'symbols of globals':
    'return Object.getOwnPropertySymbols(globalThis).map((s) => globalThis[s]).find((v) => typeof v === "object")',
  'symbols of process':
    'return Object.getOwnPropertySymbols(process).map((s) => process[s]).find((v) => typeof v === "function" || (typeof v === "object" && v !== null && Object.keys(v).length > 0))',
  'source of an own module': "return import('node:path').then(() => import.meta.constructor('return process')())",
  'WebAssembly with imports': 'return WebAssembly.Module.constructor("return process")()',
  ShadowRealm: 'return new ShadowRealm().evaluate("1")',
  'Bun.file': 'return Bun.file(process.env.SECRET).text()',
  'Bun.spawn': "return Bun.spawn(['true'])",
  'Bun.write': "return Bun.write(process.env.BELOW + '/file', '1')",
  'Bun.$': 'return Bun.$`true`',
  'Bun.serve': 'return Bun.serve({ fetch() {} })',
  'Bun.connect': "return Bun.connect({ hostname: '127.0.0.1', port: 1, socket: {} })",
  'bun:ffi': "return import('bun:ffi')",
  'bun:sqlite': "return import('bun:sqlite')",
  'bun:jsc': "return import('bun:jsc')",
  Deno: 'return Deno.readTextFileSync(process.env.SECRET)',
  WebSocket: "return new WebSocket('ws://127.0.0.1:' + process.env.PORT)",
  EventSource: "return new EventSource('http://127.0.0.1:' + process.env.PORT)",
  localStorage: 'localStorage.x = 1; return localStorage.x',
  'MessagePort and BroadcastChannel': "return globalThis.MessageChannel ?? new BroadcastChannel('x')",
  'handle of zlib':
    "const { _handle } = (await import('node:zlib')).createGzip(); return /Pipe|TCP|TTY/.test(_handle.constructor.name) || Object.getPrototypeOf(_handle.constructor).name === 'HandleWrap' ? 'handle' : undefined",
};

/** Each module of Node that is not open. */
const CLOSED = builtinModules.filter((name) => !name.startsWith('_') && !OPEN().has(name.replace('node:', '')));

function OPEN(): ReadonlySet<string> {
  return new Set(
    'assert assert/strict buffer crypto events path path/posix path/win32 perf_hooks process querystring stream stream/consumers stream/promises stream/web string_decoder timers timers/promises url util util/types zlib'.split(
      ' ',
    ),
  );
}

const named = (from: Readonly<Record<string, string>>, worksInPlainNode: boolean): Escape[] =>
  Object.entries(from).map(([name, code]) => ({ name, code, worksInPlainNode }));

export const ESCAPES: readonly Escape[] = [
  ...named(REAL, true),
  ...named(TRICKS, false),
  ...named(Object.fromEntries(CLOSED.map((name) => [`module ${name}`, `return import('${name}')`])), false),
];

/** A program that tries it, and says how that has ended. */
export const attempt = ({ code }: Escape): string => `const attempt = async () => { ${code}
};
const say = (text) => process.stdout.write(text + '\\n');
try { const got = await attempt(); say(got === undefined ? 'closed: nothing' : 'OPEN: ' + String(got).slice(0, 80)); }
catch (error) { say('closed: ' + error?.message); }
`;
