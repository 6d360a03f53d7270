/** A graph as a picture: its nodes are a list in reading order, each of which says what follows it, over lines that only the eye needs. */
import { type ReactNode, useMemo } from 'react'
import { VisibleText } from '../text/visible-text.tsx'
import { type GraphLine, layOut } from './graph-layout.ts'
import './graph.css'

export type GraphItem = Readonly<{
  id: string
  /** What it is, in a word. */
  kind: string
  name: string
  /** More about it, one line each. */
  facts: readonly (string | undefined)[]
  /** Makes the link of the whole node. */
  link(children: ReactNode): ReactNode
  /** In the corner: what went wrong, other links. */
  corner?: ReactNode
  isFailing?: boolean
  isFocused?: boolean
}>

export type GraphViewProps = Readonly<{
  label: string
  items: readonly GraphItem[]
  lines: readonly GraphLine[]
  /** Where the layers follow each other to. */
  direction: 'down' | 'right'
}>

const WIDTH = 232
const HEIGHT = 88
const SIZES = {
  down: { depth: HEIGHT, breadth: WIDTH, depthGap: 36, breadthGap: 20 },
  right: { depth: WIDTH, breadth: HEIGHT, depthGap: 72, breadthGap: 10 },
} as const
const MAX_CHARACTERS = 200

export function GraphView({ label, items, lines, direction }: GraphViewProps) {
  const layout = useMemo(() => {
    const ids = items.map(({ id }) => id)
    return layOut(ids, lines, SIZES[direction])
  }, [items, lines, direction])
  const isDown = direction === 'down'
  const toXY = ({ along, across }: Readonly<{ along: number; across: number }>) =>
    isDown ? ([across, along] as const) : ([along, across] as const)
  const [width, height] = toXY(layout)
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return (
    <section className={`graph ${direction}`} aria-label={label}>
      <div className="graph-ground" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          {layout.lines.map(({ line, points }, index) => {
            const at = points.map(toXY)
            const [x, y] = at.at(-1) ?? [0, 0]
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: two lines may join the same nodes
              <g key={index} className={line.reads ? 'reads' : undefined}>
                <path d={curve(at, isDown)} />
                <path className="graph-tip" d={isDown ? `M${x} ${y}l-4 -7h8z` : `M${x} ${y}l-7 -4v8z`} />
                {line.label === undefined ? null : (
                  <text x={x + (isDown ? 6 : -8)} y={y - 8} textAnchor={isDown ? 'start' : 'end'}>
                    {line.label}
                  </text>
                )}
              </g>
            )
          })}
        </svg>
        <ul>
          {items.map(({ id, kind, name, facts, link, corner, isFailing, isFocused }) => {
            const [left, top] = toXY(layout.nodes.get(id) ?? { along: 0, across: 0 })
            const next = lines.filter((line) => line.from === id)
            return (
              <li
                key={id}
                className={`graph-node ${isFailing ? 'bad' : ''} ${isFocused ? 'focused' : ''}`}
                style={{ left, top, width: WIDTH, height: HEIGHT }}
              >
                <span className="between">
                  <span className="quiet">{kind}</span>
                  {corner}
                </span>
                {link(<VisibleText text={name} max={MAX_CHARACTERS} />)}
                {facts.map((fact) =>
                  fact === undefined ? null : (
                    <span key={fact} className="graph-fact" title={fact}>
                      <VisibleText text={fact} max={MAX_CHARACTERS} />
                    </span>
                  ),
                )}
                {next.length === 0 ? null : (
                  <span className="visually-hidden">
                    Followed by{' '}
                    {next
                      .map(({ to, label }) => `${names.get(to)}${label === undefined ? '' : ` (${label})`}`)
                      .join(', ')}
                  </span>
                )}
              </li>
            )
          })}
        </ul>
      </div>
    </section>
  )
}

/** Bends between layers, and goes straight through them. */
function curve(points: readonly (readonly [number, number])[], isDown: boolean): string {
  return points
    .map(([x, y], index) => {
      const [fromX, fromY] = points[index - 1] ?? [x, y]
      if (index === 0) return `M${x} ${y}`
      if (isDown) return `C${fromX} ${fromY + 18} ${x} ${y - 18} ${x} ${y}`
      return `C${fromX + 36} ${fromY} ${x - 36} ${y} ${x} ${y}`
    })
    .join('')
}
