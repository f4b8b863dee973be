/** Something that a test holds back until it says so. */
export interface Latch {
  open(): void;
  opened: Promise<void>;
}

export function latch(): Latch {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
