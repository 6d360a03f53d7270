/** Budgets of the page, in milliseconds, on a machine that does other things as well. */

/** Such a machine is slow now and then; a page that is slow is slow each time. */
const ATTEMPTS = 3

/** The least of some attempts; no further one after the limit is kept. */
export async function fastest(work: () => Promise<number>, limitMs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && best > limitMs; attempt += 1) best = Math.min(best, await work())
  return best
}
