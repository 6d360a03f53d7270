/** The selected entry: its paths, function and default, to be changed, and what it did. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { smallestEdit } from '../../../draft/draft.ts'
import { nodeText, setValue } from '../../../draft/json-edits.ts'
import { toPath } from '../../../draft/json-places.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { WrittenPaths } from '../dialogs/proposal-preview.tsx'
import { listScopes, moveTarget, type Place } from '../model/each-scopes.ts'
import { changeFill, changeKey, changeSource, changeTransform, type Edited } from '../model/entry-edits.ts'
import { findMadeValue, readTyped, showTyped } from '../model/made-values.ts'
import type { EachScope, MappingLine, MappingText } from '../model/mapping-entries.ts'
import type { ConnectedLine } from '../model/shown-fields.ts'
import { describeNested, type LineFaults, ResultChip } from './entry-list.tsx'
import { FunctionField, type MappingFunctions } from './function-field.tsx'

export type LineDetailProps = Readonly<{
  id: string
  mapping: MappingText
  connected: ConnectedLine
  faults: LineFaults
  functions: MappingFunctions
  /** A value of the source. */
  sample: unknown
  /** Why nothing may be changed. */
  refused: string | undefined
  /** Makes a change, and selects the entry that it leaves. Out: why it was not made. */
  onChange(edited: Edited, select: Place): string | undefined
  onEach(of: string | EachScope): void
  onRemove(connected: ConnectedLine): void
}>

export function LineDetail({
  id,
  mapping,
  connected,
  faults,
  functions,
  sample,
  refused,
  onChange,
  onEach,
  onRemove,
}: LineDetailProps) {
  const { line, result } = connected
  const { entry, target } = line
  const place = { source: entry.source, key: target.key ?? '', within: line.within }
  const locked = refused ?? explainLock(line)
  const { scope } = line
  const made = findMadeValue(mapping, entry.source)
  return (
    <section className="line-detail panel" aria-label="Selected entry">
      <div className="between">
        <h2>Entry</h2>
        {result === undefined ? null : <ResultChip result={result} />}
      </div>
      {locked === undefined ? null : <p className="hint">{locked}</p>}
      {faults.get(line.id)?.map((sentence) => (
        <VisibleText as="p" key={sentence} className="callout warn" text={sentence} max={500} />
      ))}
      <CommittedField
        label="Source path"
        value={entry.source}
        isLocked={locked !== undefined}
        onCommit={(source) => onChange(changeSource(mapping, line, source), { ...place, source })}
      />
      {made?.node === undefined ? null : (
        <CommittedField
          label={made.at === 'constants' ? 'Constant' : 'Expression'}
          value={
            made.at === 'constants' ? showTyped(JSON.parse(nodeText(mapping.text, made.node))) : String(made.node.value)
          }
          isLocked={locked !== undefined || (made.at === 'inputTransforms' && made.node.type !== 'string')}
          onCommit={(typed) => {
            const value = made.at === 'constants' ? readTyped(typed) : typed
            const edit = smallestEdit(mapping.text, setValue(mapping.text, [made.at, made.name], value))
            return onChange({ ok: true, edits: edit === undefined ? [] : [edit] }, place)
          }}
        />
      )}
      <CommittedField
        label="Target path"
        value={target.key ?? ''}
        isLocked={locked !== undefined}
        onCommit={(key) => onChange(changeKey(mapping, line, key), { ...place, key })}
      />
      <InsideField
        key={line.id}
        mapping={mapping}
        line={line}
        isLocked={locked !== undefined}
        onMove={(to) => {
          const { place: next = place, ...edited } = moveTarget(mapping, line, to)
          return onChange(edited, next)
        }}
      />
      {target.nested === undefined ? (
        <>
          <FunctionField
            line={line}
            functions={functions}
            sample={sample}
            isLocked={locked !== undefined}
            onCommit={(...transform) => onChange(changeTransform(mapping, line, ...transform), place)}
          />
          <CommittedField
            label="Default, as JSON"
            value={target.fill ?? ''}
            isLocked={locked !== undefined}
            onCommit={(fill) => onChange(changeFill(mapping, line, fill.trim() === '' ? undefined : fill), place)}
          />
        </>
      ) : (
        <p className="hint">Maps every element of a list ({describeNested(target.nested)}).</p>
      )}
      {result !== undefined && result.written > 0 && (
        <div>
          <h3>Written</h3>
          <WrittenPaths result={result} />
        </div>
      )}
      <div className="row">
        {scope === undefined ? null : (
          <Button text="Add an entry to it …" refused={locked} onPress={() => onEach(scope)} />
        )}
        <Button text="Remove" tone="danger" refused={locked} keys="Delete" onPress={() => onRemove(connected)} />
        <Link className="button" to="/endpoints/$id/edit" params={{ id }} search={{ path: toPath(entry.value) }}>
          Show in editor
        </Link>
      </div>
    </section>
  )
}

type InsideFieldProps = Readonly<{
  mapping: MappingText
  line: MappingLine
  isLocked: boolean
  /** Out: why it was not moved. */
  onMove(to: EachScope | undefined): string | undefined
}>

/** The `each` that the entry is in; nothing of a mapping without any that it could be in. */
function InsideField({ mapping, line, isLocked, onMove }: InsideFieldProps) {
  const [fault, setFault] = useState<string>()
  const now = line.within?.id ?? ''
  const scopes = listScopes(mapping).filter(({ id }) => id !== line.id && !id.startsWith(`${line.id}\n`))
  if (scopes.length === 0) return null
  const choices = [
    { value: '', label: 'The mapping itself' },
    ...scopes.map(({ id, items, place }) => ({ value: id, label: `Each of ${items.at(-1)} → ${place}` })),
  ]
  return (
    <SelectField
      label="Inside"
      value={now}
      choices={isLocked ? choices.filter(({ value }) => value === now) : choices}
      onChange={(id) => setFault(onMove(scopes.find((scope) => scope.id === id)))}
      fault={fault}
    />
  )
}

function explainLock({ entry, target }: MappingLine): string | undefined {
  if (entry.isRepeated) return 'This source is in the document twice, so this view changes neither entry.'
  return target.form === 'unknown'
    ? 'This view does not show targets of this form. Change it in the editor.'
    : undefined
}

type CommittedFieldProps = Readonly<{
  label: string
  value: string
  isLocked: boolean
  /** Called when the user is done. Out: what is wrong with the value. */
  onCommit(value: string): string | undefined
}>

/** A field whose value counts once it is left, or at Enter; Esc brings the old one back. */
function CommittedField({ label, value, isLocked, onCommit }: CommittedFieldProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  const [fault, setFault] = useState<string>()
  if (known !== value) {
    setKnown(value)
    setTyped(value)
    setFault(undefined)
  }
  const commit = () => setFault(typed === value ? undefined : onCommit(typed))
  return (
    <TextField
      label={label}
      value={typed}
      onChange={isLocked ? () => undefined : setTyped}
      fault={fault}
      onDone={commit}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return
        setTyped(value)
        setFault(undefined)
      }}
    />
  )
}
