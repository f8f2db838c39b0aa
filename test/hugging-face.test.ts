import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BASE_MODEL } from '../src/app/package.js';
import { loadPolicy } from '../src/policy/index.js';
import { synthTasks } from '../src/tasks/index.js';
import { temporaryDirectory } from './program.js';

const python = process.env.HONE_PYTHON ?? 'python3';
const present = spawnSync(python, ['-c', 'import torch, transformers'], { stdio: 'ignore' }).status === 0;
if (!present)
  console.log(
    'skipped: Hugging Face transformers loads what Hone saves (needs the Python packages torch and transformers)',
  );

const SCRIPT = `
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, pairs = sys.argv[1], json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
out = []
for prompt, completion in pairs:
    p = tokenizer(prompt, add_special_tokens=False).input_ids
    c = tokenizer(completion, add_special_tokens=False).input_ids + [tokenizer.eos_token_id]
    with torch.no_grad():
        logp = torch.log_softmax(model(torch.tensor([p + c])).logits[0], -1)
    out.append({'prompt': p, 'completion': c, 'logprobs': [logp[len(p) + i - 1, t].item() for i, t in enumerate(c)]})
print(json.dumps(out))
`;

test.skipIf(!present)(
  'Hugging Face transformers loads what Hone saves: same ids, same log-probabilities',
  async () => {
    const folder = join(temporaryDirectory(), 'model');
    mkdirSync(folder);
    const policy = await loadPolicy(BASE_MODEL);
    try {
      await policy.save(folder);
      const tasks = synthTasks({ seed: 0, split: 'heldout', language: 'javascript', difficulty: [2, 4], count: 8 });
      const pairs = tasks.map((task) => [task.prompt, task.reference]);
      const run = spawnSync(python, ['-c', SCRIPT, folder], { input: JSON.stringify(pairs), encoding: 'utf8' });
      expect(run.status, run.stderr).toBe(0);
      const theirs = JSON.parse(run.stdout) as { prompt: number[]; completion: number[]; logprobs: number[] }[];
      const ours = tasks.map((task) => ({
        promptIds: policy.tokenizer.encode(task.prompt, { addSpecialTokens: true }),
        completionIds: [...policy.tokenizer.encode(task.reference), policy.tokenizer.eosId],
      }));
      const scores = await policy.score(ours);
      theirs.forEach((their, i) => {
        expect(ours[i]!.promptIds).toEqual(their.prompt);
        expect(ours[i]!.completionIds).toEqual(their.completion);
        their.logprobs.forEach((lp, t) => void expect(Math.abs(scores[i]!.logprobs[t]! - lp)).toBeLessThan(2e-4));
      });
    } finally {
      await policy.close();
    }
  },
  120_000,
);
