import type { EvaluationMetrics } from '../../core/metrics.js';
import { percent, truncate, width } from './format.js';
import { sparkline } from './sparkline.js';

/** The evaluations of a run so far. */
export interface History {
  add(metrics: EvaluationMetrics): void;
  /** pass@1 measured after a step, if it was. */
  passAt1(step: number): number | undefined;
  /** `pass@1 34.5 % ▁▃▅█ 58.9 %  steps 0–40, scale 34.5–58.9 %`, or '' before the first evaluation. */
  line(columns: number): string;
}

/** Keeps the evaluations by task set; the set that is measured most often is the one drawn. */
export function createHistory(): History {
  const series = new Map<string, Map<number, number>>();
  const drawn = (): Map<number, number> =>
    [...series.values()].reduce((most, points) => (points.size > most.size ? points : most), new Map());
  return {
    add(metrics) {
      const value = metrics.passAt['1']?.value;
      if (value === undefined) return;
      const points = series.get(metrics.split) ?? new Map<number, number>();
      series.set(metrics.split, points.set(metrics.step, value));
    },
    passAt1: (step) => drawn().get(step),
    line(columns) {
      const points = [...drawn()].sort(([a], [b]) => a - b);
      const first = points[0];
      const last = points.at(-1);
      if (!first || !last) return '';
      if (points.length === 1) return truncate(`pass@1 ${percent(first[1])} at step ${first[0]}`, columns);
      const values = points.map(([, value]) => value);
      const before = `pass@1 ${percent(first[1])} `;
      const after = ` ${percent(last[1])}`;
      const low = (Math.min(...values) * 100).toFixed(1);
      const axis = `  steps ${first[0]}–${last[0]}, scale ${low}–${percent(Math.max(...values))}`;
      const room = columns - width(before) - width(after) - width(axis);
      // Too narrow for the axis beside the bars: the bars come first.
      const withAxis = room >= Math.min(8, values.length);
      const bars = sparkline(values, Math.min(40, withAxis ? room : columns - width(before) - width(after)));
      return truncate(before + bars + after + (withAxis ? axis : ''), columns);
    },
  };
}
