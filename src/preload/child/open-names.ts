/** What a program keeps of `process`: nothing that signals processes, loads native code, or reaches handles and modules. */
export const OF_PROCESS = words(`
  _events _eventsCount _maxListeners _exiting _fatalException _rawDebug _tickCallback domain abort arch argv argv0
  availableMemory constrainedMemory cpuUsage cwd emitWarning env execArgv execPath exit exitCode features
  getActiveResourcesInfo hrtime memoryUsage nextTick noDeprecation permission pid platform reallyExit release
  resourceUsage stderr stdin stdout throwDeprecation title traceDeprecation uptime version versions
  hasUncaughtExceptionCaptureCallback setUncaughtExceptionCaptureCallback threadCpuUsage`);

/** What a program keeps of the globals of Node; those of the language are all there. */
export const OF_GLOBALS = words(`
  AbortController AbortSignal Blob Buffer ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy Crypto
  CryptoKey CustomEvent DOMException DecompressionStream Event EventTarget File Performance PerformanceEntry
  PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList ReadableByteStreamController
  ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController
  ReadableStreamDefaultReader SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream
  TransformStream TransformStreamDefaultController URL URLPattern URLSearchParams WritableStream
  WritableStreamDefaultController WritableStreamDefaultWriter atob btoa clearImmediate clearInterval clearTimeout
  console crypto global performance process queueMicrotask setImmediate setInterval setTimeout structuredClone
  WebAssembly`);

/** They say that they are closed; all others are not there. */
export const EXPLAINED = ['fetch', 'EventSource', 'WebSocket', 'XMLHttpRequest', 'Worker', 'BroadcastChannel'];

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
