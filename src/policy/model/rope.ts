import type { Graph, Tensor } from '../graph/graph.js';
import type { RopeTables } from '../graph/ops.js';
import type { DecoderConfig } from './config.js';

/** The rotation tables [max_position_embeddings, D/2] as constants of `g`; `positions` is int64 [N, 1]. */
export function ropeTables(g: Graph, config: DecoderConfig, positions: Tensor): RopeTables {
  const half = config.head_dim / 2;
  const length = config.max_position_embeddings;
  const cos = new Float32Array(length * half);
  const sin = new Float32Array(length * half);
  for (let t = 0; t < length; t++) {
    for (let i = 0; i < half; i++) {
      const angle = t / config.rope_theta ** ((2 * i) / config.head_dim);
      cos[t * half + i] = Math.cos(angle);
      sin[t * half + i] = Math.sin(angle);
    }
  }
  const sines = g.floats(sin, [length, half]);
  return { positions, cos: g.floats(cos, [length, half]), sin: sines, negativeSin: g.emit('Neg', [sines]) };
}
