/** The slot of a key in Redis Cluster: CRC-16/XMODEM of its hash tag, or of the whole key without one, mod 16384. */
export function hashSlot(key: string): number {
  const hashed = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16_384;
}
