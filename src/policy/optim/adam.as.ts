// AssemblyScript kernels of the optimiser, SIMD, compiled to adam.wasm by scripts/build.mjs.
// Pointers are byte offsets into the imported memory, multiples of 16; counts are multiples of 4 (the store pads with
// zeros). optim/kernels.ts holds the same arithmetic in JavaScript, bit for bit.

// target[i] += source[i]
export function accumulate(target: usize, source: usize, n: i32): void {
  for (let i = 0; i < n; i += 4) {
    const at = (<usize>i) << 2;
    v128.store(target + at, f32x4.add(v128.load(target + at), v128.load(source + at)));
  }
}

// Σ x[i]², in float64: float32 would overflow at 1.8e19 and lose small terms. Four partial sums, added in a fixed order.
export function sumOfSquares(x: usize, n: i32): f64 {
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  for (let i = 0; i < n; i += 4) {
    const four = v128.load(x + ((<usize>i) << 2));
    const a = f64x2.promote_low_f32x4(four);
    const b = f64x2.promote_low_f32x4(i32x4.shuffle(four, four, 2, 3, 2, 3));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  return (
    f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1) + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1))
  );
}

// One AdamW step. scale multiplies the gradient (clipping); rate = lr / (1 − β1ᵗ); correction = 1 / (1 − β2ᵗ);
// decay = lr · weight decay. Returns the largest |p[i]| after the step, NaN where any is NaN.
export function adamw(
  p: usize, g: usize, m: usize, v: usize, n: i32,
  scale: f32, beta1: f32, beta2: f32, rest1: f32, rest2: f32, rate: f32, correction: f32, epsilon: f32, decay: f32,
): f32 {
  const vScale = f32x4.splat(scale);
  const vBeta1 = f32x4.splat(beta1);
  const vBeta2 = f32x4.splat(beta2);
  const vRest1 = f32x4.splat(rest1);
  const vRest2 = f32x4.splat(rest2);
  const vRate = f32x4.splat(rate);
  const vCorrection = f32x4.splat(correction);
  const vEpsilon = f32x4.splat(epsilon);
  const vDecay = f32x4.splat(decay);
  let largest = f32x4.splat(0);
  for (let i = 0; i < n; i += 4) {
    const at = (<usize>i) << 2;
    const gi = f32x4.mul(v128.load(g + at), vScale);
    const pi = v128.load(p + at);
    const mi = f32x4.add(f32x4.mul(vBeta1, v128.load(m + at)), f32x4.mul(vRest1, gi));
    const vi = f32x4.add(f32x4.mul(vBeta2, v128.load(v + at)), f32x4.mul(f32x4.mul(vRest2, gi), gi));
    v128.store(m + at, mi);
    v128.store(v + at, vi);
    const root = f32x4.add(f32x4.sqrt(f32x4.mul(vi, vCorrection)), vEpsilon);
    const kept = f32x4.sub(pi, f32x4.mul(vDecay, pi));
    const next = f32x4.sub(kept, f32x4.div(f32x4.mul(vRate, mi), root));
    v128.store(p + at, next);
    largest = f32x4.max(largest, f32x4.abs(next));
  }
  return max<f32>(
    max<f32>(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
    max<f32>(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
  );
}
