/** Stops what the global setup started. */
module.exports = async function stopTestRedis(): Promise<void> {
  await globalThis.mailroomTestRedis?.stop();
};
