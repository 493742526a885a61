/** Not through the proxy: what a task starts in its own container. */
const DIRECT = 'localhost,127.0.0.1,::1';

/**
 * Pure. What lets programs in a container find the proxy at that port of their own loopback. Git, curl, npm, pnpm, pip,
 * uv, cargo and go know the plain names (curl only the lower case ones for HTTP); Node's own fetch needs to be told to
 * look at them, which it does from 22.21 and 24.0 on; Yarn from 2 on looks at its own names alone, and stops at any
 * other name that begins with "YARN_", so there is none for the exceptions.
 */
export function proxyEnvironment(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: DIRECT,
    http_proxy: proxy,
    https_proxy: proxy,
    no_proxy: DIRECT,
    NODE_USE_ENV_PROXY: '1',
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
  };
}
