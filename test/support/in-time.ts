const MOST_TRIES = 3;

/**
 * What a call with a time limit has come to. Where the machine was too busy for its program to begin within the limit, it is
 * called again with one that is four times as long: what a limit does can be seen only of what has begun.
 */
export async function inTime<Result>(
  firstMs: number,
  call: (limitMs: number) => Promise<Result>,
  hasBegun: (result: Result) => boolean,
): Promise<Result> {
  let result = await call(firstMs);
  for (let tries = 1; tries < MOST_TRIES && !hasBegun(result); tries += 1) result = await call(firstMs * 4 ** tries);
  return result;
}
