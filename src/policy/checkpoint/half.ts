/** 16-bit floats as safetensors stores them: IEEE binary16 (F16) and bfloat16 (BF16). */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** Nearest binary16, ties to even; magnitudes of 65520 and more become infinite. */
export function toHalf(value: number): number {
  float[0] = value;
  const word = bits[0]!;
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Below 2⁻¹⁴ the result is subnormal, in units of 2⁻²⁴; Math.round would break ties upwards.
  if (magnitude < 0x38800000) return sign | roundTiesToEven(Math.abs(value) * 2 ** 24);
  const rebiased = magnitude - 0x38000000;
  const kept = rebiased >>> 13;
  const rest = rebiased & 0x1fff;
  return sign | (kept + (rest > 0x1000 || (rest === 0x1000 && (kept & 1) === 1) ? 1 : 0));
}

function roundTiesToEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

export function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

export function fromBfloat16(half: number): number {
  bits[0] = half << 16;
  return float[0]!;
}
