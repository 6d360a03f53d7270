/** The lines between the trees: those of rows that can be seen, and counts of ends that cannot. */
import { memo } from 'react'
import type { EdgeCounts, LineLayout } from '../model/line-layout.ts'

export type LineGutterProps = Readonly<{
  layout: LineLayout
  height: number
  /** The selected line, and those of a selected field. */
  selected: string | undefined
  related: ReadonlySet<string>
  onSelect(id: string): void
  /** Scrolls a tree to the next end beyond its edge. */
  onEdge(side: 'source' | 'target', edge: 'above' | 'below'): void
}>

const WIDTH = 100

/** Readers of the screen have the list of entries instead. */
export const LineGutter = memo(function LineGutter({ layout, height, selected, related, ...on }: LineGutterProps) {
  return (
    <div className="line-gutter" aria-hidden="true">
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: hidden from readers of the screen */}
      <svg className="block" width="100%" viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" height={height}>
        {layout.lines.map(({ id, fromY, toY, isWhole }) => {
          const path = `M0 ${fromY} C${WIDTH * 0.45} ${fromY} ${WIDTH * 0.55} ${toY} ${WIDTH} ${toY}`
          const kind = id === selected ? 'selected' : related.has(id) ? 'related' : ''
          return (
            <g key={id} className={`line ${isWhole ? '' : 'half'} ${kind}`}>
              <path d={path} className="line-shown" />
              {/* biome-ignore lint/a11y/noStaticElementInteractions: the list of entries selects by keys */}
              <path d={path} className="line-hit" onClick={() => on.onSelect(id)} />
            </g>
          )
        })}
      </svg>
      <Edges side="source" counts={layout.source} onEdge={on.onEdge} />
      <Edges side="target" counts={layout.target} onEdge={on.onEdge} />
    </div>
  )
})

type EdgesProps = Readonly<{ side: 'source' | 'target'; counts: EdgeCounts } & Pick<LineGutterProps, 'onEdge'>>

function Edges({ side, counts, onEdge }: EdgesProps) {
  return (['above', 'below'] as const).map((edge) =>
    counts[edge] === 0 ? null : (
      <button
        key={edge}
        type="button"
        tabIndex={-1}
        className={`edge ${side} ${edge}`}
        title={`${counts[edge]} more ${edge}`}
        onClick={() => onEdge(side, edge)}
      >
        {edge === 'above' ? '↑' : '↓'} {counts[edge]}
      </button>
    ),
  )
}
