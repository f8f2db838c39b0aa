/**
 * GPT-2's printable stand-ins for bytes (Radford et al. 2019): printable Latin-1 characters stand for themselves, the
 * other bytes, in order, for U+0100 onwards.
 */
export const BYTE_CHARACTERS: readonly string[] = (() => {
  const isPrintable = (b: number): boolean =>
    (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
  let next = 0x100;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(isPrintable(b) ? b : next++));
})();
