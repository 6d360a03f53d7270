/** Adds an entry to an `each`, or begins one for a list with its first entry. */
import { useState } from 'react'
import { ComboField } from '../../../ui/controls/combo-field.tsx'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { findScopes } from '../model/each-scopes.ts'
import type { FieldTree } from '../model/field-tree.ts'
import type { EachScope, MappingText } from '../model/mapping-entries.ts'

export type EachDialogProps = Readonly<{
  /** A list as a source, whose `each` is to begin; or the `each` that gets an entry. */
  of: string | EachScope
  mapping: MappingText
  sources: FieldTree
  targets: FieldTree
  /** Out: why it was not done. */
  onAdd(source: string, key: string, list: string): string | undefined
  onClose(): void
}>

export function EachDialog({ of, mapping, sources, targets, onAdd, onClose }: EachDialogProps) {
  const [list, setList] = useState('')
  const [source, setSource] = useState('item')
  const [key, setKey] = useState('')
  const isNew = typeof of === 'string'
  const from = isNew ? of : (of.items.at(-1) ?? '')
  const place = isNew ? list.trim() : of.place
  const [around] = isNew ? findScopes(mapping, of, place) : []
  const outer = isNew ? around?.scope.items.at(-1) : of.items.at(-2)
  const below = (tree: FieldTree, start: string, name: string) =>
    [...tree.nodes.values()].flatMap(({ path }) =>
      path.startsWith(`${start}.`) ? { value: `${name}${path.slice(start.length + 1)}` } : [],
    )
  const lists = [...targets.nodes.values()].flatMap((node) => (node.lists > 0 ? { value: `${node.path}[]` } : []))
  const isMissing = [source, key, ...(isNew ? [list] : [])].some((text) => text.trim() === '')
  return (
    <ConfirmDialog
      title={`Each of ${from}`}
      confirm="Add"
      refused={isMissing ? 'Fill in each field.' : undefined}
      isDismissable={false}
      onConfirm={() => {
        const why = onAdd(source.trim(), key.trim(), place)
        if (why !== undefined) throw new Error(why)
      }}
      onClose={onClose}
    >
      {isNew && (
        <ComboField label="List of the output" value={list} suggestions={lists} onChange={setList} allowsOther />
      )}
      {around !== undefined && (
        <p role="status" className="hint">
          It begins inside the entries for each of <VisibleText text={around.scope.items.at(-1) ?? ''} max={200} />.
        </p>
      )}
      <ComboField
        label="Source in each element"
        value={source}
        suggestions={[
          ...below(sources, from, 'item.'),
          { value: 'item' },
          { value: 'index' },
          ...(outer === undefined ? [] : below(sources, outer, 'outer.')),
        ]}
        onChange={setSource}
        allowsOther
      />
      <ComboField
        label="Target in each element"
        value={key}
        suggestions={below(targets, place, '')}
        onChange={setKey}
        allowsOther
      />
    </ConfirmDialog>
  )
}
