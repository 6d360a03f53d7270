/** The picture of the mapping: two trees with the lines between them. */
import { type CSSProperties, memo, type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import type { FieldNode, FieldTree } from '../model/field-tree.ts'
import { layOutLines, type PaneView, type ShownRows, scrollTo, shownRows, visibleRow } from '../model/line-layout.ts'
import { type ConnectedLine, type Marks, openNodes } from '../model/shown-fields.ts'
import { useStable } from '../use-stable.ts'
import { useFieldDrag } from './field-drag.ts'
import { FieldPane, ROW_HEIGHT, type Side } from './field-pane.tsx'
import { LineGutter } from './line-gutter.tsx'

export type BoardSide = Readonly<{ title: string; tree: FieldTree; marks: Marks; isLoaded: boolean; empty: ReactNode }>

/** A line or a field. */
export type Selection = Readonly<{
  line?: string | undefined
  source?: string | undefined
  target?: string | undefined
}>

export type MappingBoardProps = Readonly<{
  /** Percent of the window's height. */
  height: number
  source: BoardSide
  target: BoardSide
  lines: readonly ConnectedLine[]
  /** Shows everything that is left of the trees. */
  isFiltered: boolean
  selection: Selection
  onSelect(selection: Selection): void
  /** Connects two fields, or asks for the other one; undefined if the user may not. */
  onConnect: ((from: FieldNode | undefined, to: FieldNode | undefined) => void) | undefined
  /** A field is opened by hand. */
  onOpen(side: Side, node: FieldNode): void
}>

export const MappingBoard = memo(function MappingBoard({
  height,
  source,
  target,
  lines,
  isFiltered,
  selection,
  onSelect,
  onConnect,
  onOpen,
}: MappingBoardProps) {
  const board = useRef<HTMLDivElement>(null)
  const left = usePane(source.tree, isFiltered, (node) => onOpen('source', node))
  const right = usePane(target.tree, isFiltered, (node) => onOpen('target', node))
  const ends = useMemo(
    () =>
      lines.map(({ line, from, to }) => ({
        id: line.id,
        from: from === undefined ? undefined : visibleRow(left.shown, source.tree, from),
        to: to === undefined ? undefined : visibleRow(right.shown, target.tree, to),
      })),
    [lines, left.shown, right.shown, source.tree, target.tree],
  )
  const layout = useMemo(() => layOutLines(ends, left.view, right.view), [ends, left.view, right.view])
  const related = useMemo(() => relatedTo(selection, lines), [selection, lines])

  const reveal = useEffectEvent((id: string) => {
    const connected = lines.find(({ line }) => line.id === id)
    if (connected?.from !== undefined) left.reveal(connected.from)
    if (connected?.to !== undefined) right.reveal(connected.to)
    board.current?.scrollIntoView({ block: 'nearest' })
  })
  useEffect(() => {
    if (selection.line !== undefined) reveal(selection.line)
  }, [selection.line])

  const drag = useFieldDrag((from, to) => onConnect?.(source.tree.nodes.get(from), target.tree.nodes.get(to)))
  const connectFrom = useStable((id: string) => onConnect?.(source.tree.nodes.get(id), undefined))
  const connectTo = useStable((id: string) => onConnect?.(undefined, target.tree.nodes.get(id)))
  const selectSource = useStable((id: string | undefined) => onSelect(id === undefined ? {} : { source: id }))
  const selectTarget = useStable((id: string | undefined) => onSelect(id === undefined ? {} : { target: id }))
  const selectLine = useStable((line: string) => onSelect({ line }))
  const scrollToEnd = useStable((side: Side, edge: 'above' | 'below') => {
    const [pane, rows] = side === 'source' ? [left, ends.map(({ from }) => from)] : [right, ends.map(({ to }) => to)]
    const next = nextBeyond(rows, pane.view, edge)
    if (next !== undefined) pane.scrollToRow(next)
  })
  const isOn = onConnect !== undefined
  return (
    <div className="mapping-board" ref={board} style={{ '--height': `${height}vh` } as CSSProperties}>
      <FieldPane
        side="source"
        {...source}
        expanded={left.expanded}
        onExpanded={left.setExpanded}
        scroller={left.scroller}
        onScroll={left.setTop}
        selected={selection.source}
        related={related.fields}
        onSelect={selectSource}
        hooks={isOn ? drag.source : undefined}
        onConnect={isOn ? connectFrom : undefined}
      />
      <LineGutter
        layout={layout}
        height={left.view.height}
        selected={selection.line}
        related={related.lines}
        onSelect={selectLine}
        onEdge={scrollToEnd}
      />
      <FieldPane
        side="target"
        {...target}
        expanded={right.expanded}
        onExpanded={right.setExpanded}
        scroller={right.scroller}
        onScroll={right.setTop}
        selected={selection.target}
        related={related.fields}
        onSelect={selectTarget}
        hooks={isOn ? drag.target : undefined}
        onConnect={isOn ? connectTo : undefined}
      />
    </div>
  )
})

/** What is open and visible of one tree. */
function usePane(tree: FieldTree, isFiltered: boolean, onOpen: (node: FieldNode) => void) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [scrollTop, setTop] = useState(0)
  const scroller = useRef<HTMLDivElement>(null)
  const height = useHeight(scroller)
  const expanded = useMemo(() => openNodes(tree, toggled, isFiltered), [tree, toggled, isFiltered])
  const shown = useMemo(() => shownRows(tree, expanded), [tree, expanded])
  const view: PaneView = useMemo(() => ({ rowHeight: ROW_HEIGHT, scrollTop, height }), [scrollTop, height])
  const [wanted, setWanted] = useState<string>()
  const scroll = (row: number) => {
    const top = scrollTo(row, { ...view, scrollTop: scroller.current?.scrollTop ?? 0 })
    if (top !== undefined) scroller.current?.scrollTo({ top })
  }
  const revealWanted = useEffectEvent((id: string, { rowByNode: toRow }: ShownRows) => {
    const row = toRow.get(id)
    if (row === undefined) return
    scroll(row)
    setWanted(undefined)
  })
  // The row may only be there once the fields that it is in are open.
  useEffect(() => {
    if (wanted !== undefined) revealWanted(wanted, shown)
  }, [wanted, shown])
  const setExpanded = useStable((next: ReadonlySet<string>) => {
    const changed = [...next.symmetricDifference(expanded)].flatMap((id) => tree.nodes.get(id) ?? [])
    for (const node of changed) if (next.has(node.id)) onOpen(node)
    // Those without fields yet are open once these are there.
    const known = changed.filter(({ children }) => children.length > 0)
    setToggled(toggled.symmetricDifference(new Set(known.map(({ id }) => id))))
  })
  return {
    scroller,
    view,
    shown,
    expanded,
    setExpanded,
    setTop,
    scrollToRow: scroll,
    reveal: (id: string) => {
      const closed = new Set<string>()
      for (let now = tree.parents.get(id); now !== undefined; now = tree.parents.get(now)) {
        if (!expanded.has(now)) closed.add(now)
      }
      if (closed.size > 0) setToggled(toggled.symmetricDifference(closed))
      setWanted(id)
    },
  }
}

function useHeight(element: React.RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0)
  useEffect(() => {
    if (element.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 0))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return height
}

/** Lines of a selected field with their other ends, and both ends of a selected line. */
function relatedTo({ line, source, target }: Selection, lines: readonly ConnectedLine[]) {
  const found = lines.filter(
    (one) =>
      (line !== undefined && one.line.id === line) ||
      (source !== undefined && one.from === source) ||
      (target !== undefined && one.to === target),
  )
  return {
    lines: new Set(found.map((one) => one.line.id)),
    fields: new Set(found.flatMap(({ from, to }) => [from, to].filter((id) => id !== undefined))),
  }
}

/** The nearest end beyond an edge. */
function nextBeyond(
  rows: readonly (number | undefined)[],
  { scrollTop, height, rowHeight }: PaneView,
  edge: 'above' | 'below',
) {
  const [top, bottom] = [scrollTop / rowHeight - 0.5, (scrollTop + height) / rowHeight - 0.5]
  const beyond = rows.filter((row) => row !== undefined).filter((row) => (edge === 'above' ? row < top : row > bottom))
  if (beyond.length === 0) return undefined
  return edge === 'above' ? Math.max(...beyond) : Math.min(...beyond)
}
