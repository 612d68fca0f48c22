// Versions as Python packages write them, as far as we compare them.

/** The oldest server with everything that this extension needs. */
export const OLDEST_SERVER = "0.2.0";

/** The oldest Python that the server runs on. */
export const OLDEST_PYTHON = "3.11";

/** Numbers of the release ("0.2.0rc1" is 0.2.0), or undefined for anything else. */
export function release(version: string): readonly number[] | undefined {
  const match = /^\s*v?(\d{1,6}(?:\.\d{1,6}){0,5})/.exec(version);
  return match?.[1]?.split(".").map(Number);
}

/** Whether a version is not older than another; false if either is not a version. */
export function atLeast(version: string, wanted: string): boolean {
  const [has, needs] = [release(version), release(wanted)];
  if (has === undefined || needs === undefined) {
    return false;
  }
  for (let index = 0; index < Math.max(has.length, needs.length); index++) {
    const difference = (has[index] ?? 0) - (needs[index] ?? 0);
    if (difference !== 0) {
      return difference > 0;
    }
  }
  return true;
}
