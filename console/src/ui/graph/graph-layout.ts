/**
 * Places the nodes of a graph in layers, each behind those that lead to it, and its lines between them. A line over several layers
 * has a place in each, so that it crosses no node.
 */

/** `reads`: it does not decide which layer its end is in. */
export type GraphLine = Readonly<{ from: string; to: string; label?: string; reads?: true }>

/** Along the layers and across them, in pixels. */
export type GraphSizes = Readonly<{ depth: number; breadth: number; depthGap: number; breadthGap: number }>

type Point = Readonly<{ along: number; across: number }>
export type GraphLayout = Readonly<{
  along: number
  across: number
  nodes: ReadonlyMap<string, Point>
  /** From the end of a node to the start of another one, through the places between. */
  lines: readonly Readonly<{ line: GraphLine; points: readonly Point[] }>[]
}>

type Item = { readonly id: string; readonly breadth: number; across: number }

const PASSING_BREADTH = 12
const SWEEPS = 6

export function layOut(ids: readonly string[], lines: readonly GraphLine[], sizes: GraphSizes): GraphLayout {
  const { depth, breadth, depthGap, breadthGap } = sizes
  const layerOf = findLayers(ids, lines)
  const layers = Array.from({ length: Math.max(0, ...layerOf.values()) + 1 }, (): Item[] => [])
  const add = (layer: number, id: string, breadth: number): Item => {
    const item = { id, breadth, across: 0 }
    layers[layer]?.push(item)
    return item
  }
  const items = new Map(ids.map((id) => [id, add(layerOf.get(id) ?? 0, id, breadth)]))
  const ways = lines.map((line) => {
    const [first = 0, last = 0] = [line.from, line.to].map((id) => layerOf.get(id))
    const between = Array.from({ length: Math.max(0, last - first - 1) }, (_, index) =>
      add(first + 1 + index, '', PASSING_BREADTH),
    )
    return { line, first, way: [items.get(line.from), ...between, items.get(line.to)] as Item[] }
  })
  const near = new Map<Item, Item[]>()
  for (const { way } of ways) {
    for (const [index, item] of way.entries()) {
      near.set(item, [
        ...(near.get(item) ?? []),
        ...[way[index - 1], way[index + 1]].filter((one) => one !== undefined),
      ])
    }
  }
  for (const layer of layers) place(layer, () => 0, breadthGap)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      place(layer, (item) => mean((near.get(item) ?? [item]).map(middle)) - item.breadth / 2, breadthGap)
    }
  }
  const all = layers.flat()
  const start = Math.min(0, ...all.map(({ across }) => across))
  for (const item of all) item.across -= start
  const alongOf = (layer: number): number => layer * (depth + depthGap)
  return {
    along: alongOf(layers.length - 1) + depth,
    across: Math.max(0, ...all.map((item) => item.across + item.breadth)),
    nodes: new Map(
      [...items].map(([id, { across }]) => [id, { along: alongOf(layerOf.get(id) ?? 0), across }] as const),
    ),
    lines: ways.map(({ line, first, way }) => ({
      line,
      points: way.flatMap((item, index) => {
        const along =
          index === way.length - 1 && index > 0 ? alongOf(layerOf.get(line.to) ?? 0) : alongOf(first + index)
        const [before, behind] = [along, along + depth].map((one) => ({ along: one, across: middle(item) })) as [
          Point,
          Point,
        ]
        return index === 0 ? [behind] : index === way.length - 1 ? [before] : [before, behind]
      }),
    })),
  }
}

const middle = ({ across, breadth }: Item): number => across + breadth / 2
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Sorts a layer by where its items should be, and moves them apart, on the whole as far to one side as to the other. */
function place(layer: Item[], wish: (item: Item) => number, gap: number): void {
  const wished = new Map(layer.map((item) => [item, wish(item)]))
  layer.sort((one, other) => (wished.get(one) ?? 0) - (wished.get(other) ?? 0))
  let end = Number.NEGATIVE_INFINITY
  for (const item of layer) {
    item.across = Math.max(wished.get(item) ?? 0, end)
    end = item.across + item.breadth + gap
  }
  const drift = mean(layer.map((item) => item.across - (wished.get(item) ?? 0)))
  for (const item of layer) item.across -= drift
}

/** Each behind those that lead to it; a node without one before it is right before the first that it leads to. A circle is cut somewhere. */
function findLayers(ids: readonly string[], lines: readonly GraphLine[]): ReadonlyMap<string, number> {
  const before = new Map<string, string[]>()
  const after = new Map<string, string[]>()
  for (const { from, to, reads } of lines) {
    after.set(from, [...(after.get(from) ?? []), to])
    if (reads === undefined) before.set(to, [...(before.get(to) ?? []), from])
  }
  const layers = new Map<string, number>()
  const left = new Set(ids)
  const isFree = (id: string): boolean => (before.get(id) ?? []).every((one) => !left.has(one))
  while (left.size > 0) {
    const next = [...left].find(isFree) ?? ([...left][0] as string)
    left.delete(next)
    layers.set(next, Math.max(0, ...(before.get(next) ?? []).map((one) => (layers.get(one) ?? -1) + 1)))
  }
  for (const id of ids) {
    const followers = (after.get(id) ?? []).map((one) => layers.get(one) ?? 0)
    if (!before.has(id) && followers.length > 0) layers.set(id, Math.min(...followers) - 1)
  }
  const least = Math.min(0, ...layers.values())
  return new Map([...layers].map(([id, layer]) => [id, layer - least]))
}
