/** A straight line through points, by least squares. */
export type Point = Readonly<{ at: number; value: number }>

/** How much the line rises from the first to the last point; 0 for fewer than two. */
export function riseOf(points: readonly Point[]): number {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || first.at === last.at) return 0
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanAt, meanValue] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))]
  let covariance = 0
  let variance = 0
  for (const { at, value } of points) {
    covariance += (at - meanAt) * (value - meanValue)
    variance += (at - meanAt) ** 2
  }
  return (covariance / variance) * (last.at - first.at)
}
