/**
 * Logistic regression with L2 regularization, fitted by Newton's method, for a few features and some hundred samples.
 */

export type Example = { values: readonly number[]; right: boolean; weight: number };
/** The fitted weights. They apply to raw values, not to standardized ones. */
export type Fitted = { intercept: number; weights: number[] };

const maxSteps = 50;
const settled = 1e-9;

/**
 * `ridge`: the strength of the L2 regularization, as an equivalent number of examples. It acts on the weights of
 * standardized values, so that all weights are pulled towards 0 equally.
 */
export function fitLogistic(examples: readonly Example[], ridge = 3): Fitted {
  const width = examples[0]?.values.length ?? 0;
  const all = examples.reduce((sum, { weight }) => sum + weight, 0);
  const columns = Array.from({ length: width }, (_, at) => {
    const mean = examples.reduce((sum, { values, weight }) => sum + weight * values[at]!, 0) / all;
    const variance = examples.reduce((sum, { values, weight }) => sum + weight * (values[at]! - mean) ** 2, 0) / all;
    // A constant column carries no information, so its weight becomes 0.
    return { mean, deviation: Math.sqrt(variance) || Infinity };
  });
  const rows = examples.map(({ values }) => [
    1,
    ...values.map((value, at) => (value - columns[at]!.mean) / columns[at]!.deviation),
  ]);
  let fitted = Array.from({ length: width + 1 }, () => 0);
  for (let step = 0; step < maxSteps; step += 1) {
    const slope = fitted.map((value, at) => (at === 0 ? 0 : -ridge * value));
    const bend = fitted.map((_, at) => fitted.map((__, other) => (at === other && at > 0 ? ridge : 0)));
    for (const [index, row] of rows.entries()) {
      const { right, weight } = examples[index]!;
      const likely = sigmoid(row.reduce((sum, x, at) => sum + x * fitted[at]!, 0));
      for (let at = 0; at <= width; at += 1) {
        slope[at]! += weight * ((right ? 1 : 0) - likely) * row[at]!;
        for (let other = 0; other <= width; other += 1)
          bend[at]![other]! += weight * likely * (1 - likely) * row[at]! * row[other]!;
      }
    }
    const change = solve(bend, slope);
    fitted = fitted.map((value, at) => value + change[at]!);
    if (Math.hypot(...change) < settled) break;
  }
  const [first = 0, ...rest] = fitted;
  const weights = rest.map((value, at) => value / columns[at]!.deviation);
  return { intercept: first - weights.reduce((sum, weight, at) => sum + weight * columns[at]!.mean, 0), weights };
}

export const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

/** Solves `matrix` x = `vector` by Gaussian elimination with pivoting. A row without a pivot gives x = 0. */
function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, vector[at]!]);
  const size = rows.length;
  for (let at = 0; at < size; at += 1) {
    const best = rows
      .slice(at)
      .reduce((top, row, index) => (Math.abs(row[at]!) > Math.abs(rows[top]![at]!) ? at + index : top), at);
    [rows[at], rows[best]] = [rows[best]!, rows[at]!];
    const pivot = rows[at]![at]!;
    if (Math.abs(pivot) < 1e-12) continue;
    for (const [index, row] of rows.entries()) {
      if (index === at) continue;
      const factor = row[at]! / pivot;
      for (let column = at; column <= size; column += 1) row[column]! -= factor * rows[at]![column]!;
    }
  }
  return rows.map((row, at) => (Math.abs(row[at]!) < 1e-12 ? 0 : row[size]! / row[at]!));
}
