/** The places of a body that tests do not compare (`ignore`), as a tree: they are looked up at each step on the way. */

/** Places by the names that lead to them. */
export type IgnoredPlaces = Readonly<{ isWhole: boolean; inner: ReadonlyMap<string, IgnoredPlaces> }>

/** In: JSON Pointers. Out: undefined if there are none. */
export function ignoredPlaces(pointers: readonly string[]): IgnoredPlaces | undefined {
  return ignoredBelow(
    pointers.map((pointer) =>
      pointer
        .split('/')
        .slice(1)
        .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')),
    ),
  )
}

function ignoredBelow(paths: readonly (readonly string[])[]): IgnoredPlaces | undefined {
  if (paths.length === 0) return undefined
  const inner = new Map<string, IgnoredPlaces>()
  const longer = paths.filter((path) => path.length > 0)
  for (const [name, some] of Map.groupBy(longer, ([first = '']) => first)) {
    const below = ignoredBelow(some.map((path) => path.slice(1)))
    if (below !== undefined) inner.set(name, below)
  }
  return { isWhole: longer.length < paths.length, inner }
}
