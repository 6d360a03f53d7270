/** Rows of the trees as they are shown, and the lines between those that can be seen. */
import type { FieldNode, FieldTree } from './field-tree.ts'

export type FieldRow = Readonly<{ node: FieldNode; depth: number }>

export type ShownRows = Readonly<{
  rows: readonly FieldRow[]
  /** Node → its row. */
  rowByNode: ReadonlyMap<string, number>
}>

/** The rows of a tree in their order, without what is inside of closed nodes. */
export function shownRows(tree: FieldTree, expanded: ReadonlySet<string>): ShownRows {
  const rows: FieldRow[] = []
  const rowByNode = new Map<string, number>()
  const visit = (nodes: readonly FieldNode[], depth: number): void => {
    for (const node of nodes) {
      rowByNode.set(node.id, rows.length)
      rows.push({ node, depth })
      if (node.children.length > 0 && expanded.has(node.id)) visit(node.children, depth + 1)
    }
  }
  visit(tree.roots, 0)
  return { rows, rowByNode }
}

/** The row of a node, or of the closed node that it is in. */
export function visibleRow({ rowByNode }: ShownRows, { parents }: FieldTree, id: string): number | undefined {
  for (let now: string | undefined = id; now !== undefined; now = parents.get(now)) {
    const row = rowByNode.get(now)
    if (row !== undefined) return row
  }
  return undefined
}

/** One side: what can be seen of it. Lengths in pixels. */
export type PaneView = Readonly<{ rowHeight: number; scrollTop: number; height: number }>

/** A line that is drawn. An end at an edge is a row that cannot be seen. */
export type DrawnLine = Readonly<{ id: string; fromY: number; toY: number; isWhole: boolean }>

export type EdgeCounts = Readonly<{ above: number; below: number }>

export type LineLayout = Readonly<{
  lines: readonly DrawnLine[]
  /** Ends of drawn lines that cannot be seen. */
  source: EdgeCounts
  target: EdgeCounts
}>

type Ends = Readonly<{ id: string; from: number | undefined; to: number | undefined }>

/** In: the rows of both ends of each line. Out: the lines with at least one end that can be seen. */
export function layOutLines(ends: readonly Ends[], source: PaneView, target: PaneView): LineLayout {
  const lines: DrawnLine[] = []
  const counts = { source: { above: 0, below: 0 }, target: { above: 0, below: 0 } }
  for (const { id, from, to } of ends) {
    if (from === undefined || to === undefined) continue
    const [fromY, toY] = [rowMiddle(from, source), rowMiddle(to, target)]
    const [fromSide, toSide] = [findSide(fromY, source), findSide(toY, target)]
    if (fromSide !== undefined && toSide !== undefined) continue
    if (fromSide !== undefined) counts.source[fromSide] += 1
    if (toSide !== undefined) counts.target[toSide] += 1
    lines.push({
      id,
      fromY: within(fromY, source),
      toY: within(toY, target),
      isWhole: fromSide === undefined && toSide === undefined,
    })
  }
  return { lines, ...counts }
}

const rowMiddle = (row: number, { rowHeight, scrollTop }: PaneView): number => (row + 0.5) * rowHeight - scrollTop

const findSide = (y: number, { height }: PaneView): 'above' | 'below' | undefined =>
  y < 0 ? 'above' : y > height ? 'below' : undefined

const within = (y: number, { height }: PaneView): number => Math.min(height, Math.max(0, y))

/** The place to scroll to so that a row is in the middle; undefined if it can be seen already. */
export function scrollTo(row: number, { rowHeight, scrollTop, height }: PaneView): number | undefined {
  const top = row * rowHeight
  if (top >= scrollTop && top + rowHeight <= scrollTop + height) return undefined
  return Math.max(0, top - (height - rowHeight) / 2)
}
