/** The selection beside the picture: an entry, a field, or a hint for the first step. */
import type { Draft } from '../../../draft/draft.ts'
import type { FieldNode } from '../model/field-tree.ts'
import type { MappingText } from '../model/mapping-entries.ts'
import { ANY_RESOURCE } from '../use-fhir-fields.ts'
import type { Picture } from '../use-picture.ts'
import { FieldDetail } from './field-detail.tsx'
import { LineDetail, type LineDetailProps } from './line-detail.tsx'
import type { Selection } from './mapping-board.tsx'

export type SelectionDetailProps = Readonly<{
  draft: Draft
  mapping: MappingText
  picture: Picture
  selection: Selection
  onConnect(): void
  /** Chooses the type of a resource. */
  onResource(node: FieldNode): void
  onSelectLine(id: string): void
}> &
  Pick<LineDetailProps, 'faults' | 'functions' | 'refused' | 'onChange' | 'onRemove' | 'onEach'>

const HOW = 'Drag a field to a target, or select one and press M. Select a line or an entry to change it.'

export function SelectionDetail({ draft, mapping, picture, selection, ...on }: SelectionDetailProps) {
  const { connected, all } = picture
  const line = connected.find((one) => one.line.id === selection.line)
  if (line !== undefined) {
    const { faults, functions, refused, onChange, onRemove, onEach } = on
    const sample = all.source.nodes.get(line.from ?? '')?.sample
    const given = { mapping, faults, functions, sample, refused, onChange, onRemove, onEach }
    return <LineDetail id={draft.id} connected={line} {...given} />
  }
  const side = selection.source === undefined ? 'target' : 'source'
  const node = all[side].nodes.get(selection[side] ?? '')
  if (node === undefined) {
    return (
      <section className="line-detail panel" aria-label="Nothing selected">
        <p className="quiet">{HOW}</p>
      </section>
    )
  }
  return (
    <FieldDetail
      side={side}
      node={node}
      mark={picture[side].marks.get(node.id)}
      lines={connected.filter(({ from, to }) => (side === 'source' ? from : to) === node.id)}
      refused={on.refused}
      onConnect={on.onConnect}
      onEach={side === 'source' && node.lists > 0 ? () => on.onEach(`${node.path}[]`) : undefined}
      onResource={node.of === ANY_RESOURCE ? () => on.onResource(node) : undefined}
      onSelectLine={on.onSelectLine}
    />
  )
}
