/**
 * Milliseconds of the machine's monotonic clock. All processes of one machine read the same one, so that an instant of
 * one process can be taken from an instant of another.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Lets what a sample set going come to an end. */
export function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** The promise, or after 20 s an error that says what did not happen: a bench must not hang. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`within 20 s this did not happen: ${what}`)), 20_000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Looks every few milliseconds whether something has happened; throws as `within` does. */
export async function until(what: string, hasHappened: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false;
  const look = async () => {
    while (!isOver && !(await hasHappened())) await rest();
  };
  await within(what, look()).finally(() => {
    isOver = true;
  });
}
