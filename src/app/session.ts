import type { Policy } from '../core/policy.js';
import type { Verifier } from '../core/verifier.js';
import { loadPolicy } from '../policy/index.js';
import { createVerifier } from '../verify/index.js';

/** Opens a policy and a verifier for `body` and closes both whatever happens. */
export async function withPolicy<T>(
  config: { readonly model: string; readonly threads: number; readonly workers: number },
  body: (policy: Policy, verifier: Verifier) => Promise<T>,
): Promise<T> {
  const verifier = await createVerifier({ workers: config.workers });
  try {
    const policy = await loadPolicy(config.model, { threads: config.threads });
    try {
      return await body(policy, verifier);
    } finally {
      await policy.close();
    }
  } finally {
    await verifier.close();
  }
}
