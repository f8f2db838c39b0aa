const BARS = '▁▂▃▄▅▆▇█';

/**
 * A line of bars, one per value, scaled from the smallest (▁) to the largest (█); a flat series is drawn at half height.
 * More values than `columns` are averaged in equal stretches; values that are not finite leave a gap.
 */
export function sparkline(values: readonly number[], columns = values.length): string {
  const shown = resample(values, Math.max(1, columns));
  const finite = shown.filter(Number.isFinite);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  return shown
    .map((value) => {
      if (!Number.isFinite(value)) return ' ';
      const level = high > low ? (value - low) / (high - low) : 0.5;
      return BARS[Math.min(BARS.length - 1, Math.floor(level * BARS.length))];
    })
    .join('');
}

function resample(values: readonly number[], columns: number): readonly number[] {
  if (values.length <= columns) return values;
  return Array.from({ length: columns }, (_, i) => {
    const from = Math.floor((i * values.length) / columns);
    const part = values.slice(from, Math.floor(((i + 1) * values.length) / columns)).filter(Number.isFinite);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
