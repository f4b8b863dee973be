/** Does `count` pieces of work, so many at a time, and resolves with what each gave, in no order. */
export async function inLanes<T>(count: number, lanes: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun < count) results.push(await work(begun++));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
