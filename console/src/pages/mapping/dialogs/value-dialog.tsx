/** A value that is no path: a constant, joined texts, a date, a number or an expression, with the entry that writes it. */
import { useState } from 'react'
import { ComboField } from '../../../ui/controls/combo-field.tsx'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import type { FieldNode, FieldTree } from '../model/field-tree.ts'
import { fillForm, type ValueForm } from '../model/made-values.ts'

export type ValueDialogProps = Readonly<{
  forms: readonly ValueForm[]
  from: FieldNode | undefined
  to: FieldNode | undefined
  sources: FieldTree
  targets: FieldTree
  /** Out: why it was not done. */
  onAdd(at: ValueForm['at'], value: unknown, key: string): string | undefined
  onClose(): void
}>

const DATE_SAMPLES = [
  [/^\d\d\/\d\d\/\d{4}$/, '[D01]/[M01]/[Y0001]'],
  [/^\d\d\.\d\d\.\d{4}$/, '[D01].[M01].[Y0001]'],
  [/^\d\d-\d\d-\d{4}$/, '[D01]-[M01]-[Y0001]'],
] as const

export function ValueDialog({ forms, from, to, sources, targets, onAdd, onClose }: ValueDialogProps) {
  const sample = typeof from?.sample === 'string' ? from.sample : ''
  const date = DATE_SAMPLES.find(([pattern]) => pattern.test(sample))?.[1]
  const [name, setName] = useState(date ? 'date' : from ? 'join' : 'constant')
  const [key, setKey] = useState(to?.path ?? '')
  const path = from?.path ?? ''
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({
    source: path,
    sources: path,
    expression: path,
    ...(date && { from: date }),
  })
  const form = forms.find((one) => one.name === name)
  if (form === undefined) return null
  const defaults = Object.fromEntries(form.parameters.map((one) => [one.name, one.default ?? '']))
  const given = { ...defaults, ...typed }
  const value = fillForm(form, given)
  const suggestions = (tree: FieldTree) => [...tree.nodes.values()].map((node) => ({ value: node.path }))
  const set = (parameter: string) => (text: string) => setTyped({ ...typed, [parameter]: text })
  return (
    <ConfirmDialog
      title="Add a value"
      confirm="Add"
      refused={key.trim() === '' ? 'Choose a target first.' : value === undefined ? 'Fill in each field.' : undefined}
      isDismissable={false}
      onConfirm={() => {
        const why = onAdd(form.at, value, key.trim())
        if (why !== undefined) throw new Error(why)
      }}
      onClose={onClose}
    >
      <SelectField
        label="Kind"
        value={name}
        choices={forms.map((one) => ({ value: one.name, label: one.title }))}
        hint={form.means}
        onChange={setName}
      />
      {form.parameters.map(({ name: parameter, title, kind, choices }) => {
        const now = given[parameter] ?? ''
        const field = { label: title, value: now, onChange: set(parameter) }
        if (kind === 'path')
          return <ComboField key={parameter} {...field} suggestions={suggestions(sources)} allowsOther />
        if (choices === undefined) return <TextField key={parameter} {...field} />
        const offered = choices.map((one) => ({ value: one.value, label: one.title }))
        return <SelectField key={parameter} {...field} choices={offered} />
      })}
      <ComboField label="Target" value={key} suggestions={suggestions(targets)} onChange={setKey} allowsOther />
      {typeof value === 'string' && form.at === 'inputTransforms' && (
        <p className="hint">
          Expression: <code className="wrap">{value}</code>
        </p>
      )}
    </ConfirmDialog>
  )
}
