/** The name that a user probably meant: most unknown names are slips of typing. */

/** Longer names are hardly slips, and the time to compare them grows by the square. */
const MAX_CHARACTERS = 64

/**
 * The known name nearest to `name`, or undefined if none is near.
 *
 * Near: the same but for upper and lower case, or at most one slip in three characters. A slip is a character too many,
 * missing, or wrong, or two neighbours swapped (optimal string alignment). The first of equally near names wins.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_CHARACTERS) return undefined
  const wanted = name.toLowerCase()
  let best: string | undefined
  let bestSlips = Math.floor(name.length / 3) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestSlips) continue
    const slips = countSlips(wanted, candidate.toLowerCase())
    if (slips < bestSlips) [best, bestSlips] = [candidate, slips]
  }
  return best
}

/** The known name that has this one as its last word or before a `+`: `clientSecret` for `secret`, `FHIR+JSON` for `FHIR`. */
export function longer(name: string, known: Iterable<string>): string | undefined {
  if (name === '') return undefined
  const lastWord = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const isPart = (one: string) => one.endsWith(lastWord) || one.startsWith(`${name.toUpperCase()}+`)
  return [...known].find(isPart)
}

/** `; did you mean "x"?` if a known name is near or a longer form of it, else a full stop. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = nearest(name, known) ?? longer(name, known)
  return meant === undefined ? '.' : `; did you mean "${meant}"?`
}

function countSlips(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let slips = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) slips = Math.min(slips, at(beforeLast, column - 2) + 1)
      current.push(slips)
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
