/** The selected field: what it is, and what is connected to it. */
import { Button } from '../../../ui/controls/button.tsx'
import { Fact, Facts } from '../../../ui/data/facts.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import type { FieldNode } from '../model/field-tree.ts'
import type { ConnectedLine, FieldMark } from '../model/shown-fields.ts'
import type { Side } from './field-pane.tsx'

export type FieldDetailProps = Readonly<{
  side: Side
  node: FieldNode
  mark: FieldMark | undefined
  lines: readonly ConnectedLine[]
  refused: string | undefined
  onConnect(): void
  /** Of a list that can be read. */
  onEach: (() => void) | undefined
  /** Of a resource of any type. */
  onResource: (() => void) | undefined
  onSelectLine(id: string): void
}>

const MAX_LINES = 20

export function FieldDetail({ side, node, mark, lines, refused, ...on }: FieldDetailProps) {
  const { path, types, count, sample, lists } = node
  return (
    <section className="line-detail panel" aria-label="Selected field">
      <h2>{side === 'source' ? 'Source field' : 'Target field'}</h2>
      <VisibleText as="code" className="wrap" text={path} max={500} />
      <Facts>
        {types.length > 0 && <Fact name="Type">{types.join(', ')}</Fact>}
        {count !== undefined && <Fact name={lists > 0 ? 'Elements' : 'Values'}>{count.toLocaleString('en')}</Fact>}
        {sample !== undefined && (
          <Fact name="Sample">
            <VisibleText as="code" className="wrap" text={JSON.stringify(sample)} max={300} />
          </Fact>
        )}
        {mark !== undefined && mark.unread > 0 && <Fact name="Not read">{mark.unread.toLocaleString('en')}</Fact>}
      </Facts>
      {lines.length > 0 && (
        <ul className="stack breaks">
          {lines.slice(0, MAX_LINES).map(({ line: { id, entry, target } }) => (
            <li key={id}>
              <button type="button" className="link" onClick={() => on.onSelectLine(id)}>
                <VisibleText text={side === 'source' ? `→ ${target.key ?? ''}` : `${entry.source} →`} max={200} />
              </button>
            </li>
          ))}
          {lines.length > MAX_LINES && <li className="quiet">… {lines.length - MAX_LINES} more</li>}
        </ul>
      )}
      <div className="row">
        <Button tone="primary" refused={refused} keys="M" onPress={on.onConnect}>
          Connect … <kbd className="wide-only">M</kbd>
        </Button>
        {on.onEach && <Button text="Map each element …" refused={refused} onPress={on.onEach} />}
        {on.onResource && <Button text="Choose the resource …" onPress={on.onResource} />}
      </div>
    </section>
  )
}
