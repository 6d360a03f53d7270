/** Equality of JSON values by a key, so that duplicates are found in one pass instead of comparing each with each. */

/** A key that is the same for equal values, whatever the order of an object's names, and differs for others. */
export function identityOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? written(value) : value
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${written(item)}`).join(',')}}`
}
