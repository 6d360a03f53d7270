/** What the output is meant to be: a pasted sample, a JSON Schema or a resource of FHIR, read by the service. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queries } from '../../../api/queries.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { ComboField } from '../../../ui/controls/combo-field.tsx'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { FailureNotice } from '../../../ui/states/failure-notice.tsx'
import type { SampleField } from '../model/field-tree.ts'

/** `text`: of a resource, its type. `part`: the target of a request for suggestions, as JSON text. */
export type WantedOutput = Readonly<{
  kind: 'sample' | 'schema' | 'fhir'
  text: string
  part: string
  fields: readonly SampleField[]
}>

export type TargetDialogProps = Readonly<{
  value: WantedOutput | undefined
  /** Reads the fields of a target. Fails with an ApiFailure. */
  readFields(wanted: Omit<WantedOutput, 'fields'>): Promise<readonly SampleField[]>
  onUse(value: WantedOutput | undefined): void
  onClose(): void
}>

const KINDS = [
  { value: 'sample', label: 'Sample of the output' },
  { value: 'schema', label: 'JSON Schema' },
  { value: 'fhir', label: 'FHIR R4 resource' },
] as const

export function TargetDialog({ value, readFields, onUse, onClose }: TargetDialogProps) {
  const [kind, setKind] = useState<WantedOutput['kind']>(value?.kind ?? 'sample')
  const [text, setText] = useState(value?.text ?? '')
  const choose = (next: WantedOutput['kind']) => {
    setKind(next)
    if (next === 'fhir' || kind === 'fhir') setText('')
  }
  const use = async () => {
    const wanted = { kind, text, part: targetPart(kind, text) }
    onUse({ ...wanted, fields: await readFields(wanted) })
  }
  const remove = () => {
    onUse(undefined)
    onClose()
  }
  return (
    <ConfirmDialog
      title="Fields of the output"
      size="large"
      confirm="Show its fields"
      refused={text.trim() !== '' ? undefined : kind === 'fhir' ? 'Choose a resource first.' : 'Paste a text first.'}
      others={value && <Button text="Remove" onPress={remove} />}
      isDismissable={false}
      onConfirm={use}
      onClose={onClose}
    >
      <p>
        Its fields appear among the targets, so that you can connect them, and entries can be suggested. Nothing is
        stored; this tab keeps the text until you sign out or remove it.
      </p>
      <SelectField<WantedOutput['kind']> label="Kind" value={kind} choices={KINDS} onChange={choose} />
      {kind === 'fhir' ? (
        <ResourceField value={text} onChange={setText} />
      ) : (
        <TextField label="Text" rows={14} value={text} onChange={setText} />
      )}
    </ConfirmDialog>
  )
}

function ResourceField({ value, onChange }: Readonly<{ value: string; onChange(value: string): void }>) {
  const { data, error, refetch } = useQuery({ ...queries.fhirTypes, staleTime: Number.POSITIVE_INFINITY })
  const suggestions = (data?.resources ?? []).map((type) => ({ value: type }))
  return (
    <>
      <FailureNotice failure={error} onRetry={refetch} />
      <ComboField label="Resource" value={value} suggestions={suggestions} onChange={onChange} allowsOther />
    </>
  )
}

export type ResourceDialogProps = Readonly<{
  /** Where the resource is in the output. */
  path: string
  /** Fails with an ApiFailure. */
  onUse(type: string): Promise<void>
  onClose(): void
}>

/** Chooses the type of a resource within another one. */
export function ResourceDialog({ path, onUse, onClose }: ResourceDialogProps) {
  const [type, setType] = useState('')
  return (
    <ConfirmDialog
      title={`Resource in ${path}`}
      confirm="Show its fields"
      refused={type.trim() === '' ? 'Choose a resource first.' : undefined}
      isDismissable={false}
      onConfirm={() => onUse(type.trim())}
      onClose={onClose}
    >
      <p>This object may be a resource of any type. Choose which, to see its fields.</p>
      <ResourceField value={type} onChange={setType} />
    </ConfirmDialog>
  )
}

/** JSON goes as typed; any other text, such as XML, as a text. Fails with a sentence. */
function targetPart(kind: WantedOutput['kind'], text: string): string {
  if (kind === 'fhir') return JSON.stringify({ fhir: text.trim() })
  if (kind === 'schema') return `{"schema":${checked(text)}}`
  return `{"sample":${/^\s*[[{]/.test(text) ? checked(text) : JSON.stringify(text)}}`
}

function checked(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch (thrown) {
    throw new Error(`The text is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}
