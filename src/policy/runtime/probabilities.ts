import { HoneError } from '../../core/error.js';

/** `nan_probability`: a model computed something that is no distribution over tokens. */
export const notProbabilities = (): HoneError =>
  new HoneError(
    'nan_probability',
    'the policy gives no valid probabilities: its weights are not finite, or so large that float32 overflows',
    'Go back to an earlier checkpoint and lower the learning rate.',
  );
