import type { Tensor as OrtTensor } from 'onnxruntime-node';
import { HoneError } from '../../core/error.js';
import { loadRuntime } from './program.js';

/** The graphs' input `inverse_temperature`. Errors: `bad_option`. */
export async function inverseTemperature(temperature: number): Promise<OrtTensor> {
  if (!(temperature >= 1e-6 && temperature <= 1e6)) {
    throw new HoneError('bad_option', `temperature ${temperature}: must lie between 1e-6 and 1e6`);
  }
  const { Tensor } = await loadRuntime();
  return new Tensor('float32', [1 / temperature], []);
}

/** `nan_probability`: a model computed something that is no distribution over tokens. */
export const notProbabilities = (): HoneError =>
  new HoneError(
    'nan_probability',
    'the policy gives no valid probabilities: its weights are not finite, or so large that float32 overflows',
    'Go back to an earlier checkpoint and lower the learning rate.',
  );
