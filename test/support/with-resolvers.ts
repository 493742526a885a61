/** A promise that its maker settles. Node 20 has no `Promise.withResolvers`. */
export function withResolvers<Value>() {
  let resolve: ((value: Value | Promise<Value>) => void) | undefined;
  let reject: ((error: Error) => void) | undefined;
  const promise = new Promise<Value>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return {
    promise,
    resolve: (value: Value | Promise<Value>): void => resolve?.(value),
    reject: (error: Error): void => reject?.(error),
  };
}
