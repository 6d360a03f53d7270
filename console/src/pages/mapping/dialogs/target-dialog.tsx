/** What the output is meant to be: a pasted sample or a JSON Schema, read by the service. */
import { useState } from 'react'
import { Button } from '../../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import type { SampleField } from '../model/field-tree.ts'

/** `part`: the target of a request for suggestions, as JSON text. */
export type WantedOutput = Readonly<{
  kind: 'sample' | 'schema'
  text: string
  part: string
  fields: readonly SampleField[]
}>

export type TargetDialogProps = Readonly<{
  value: WantedOutput | undefined
  /** Reads the fields of a target. Fails with an ApiFailure. */
  readFields(part: string): Promise<readonly SampleField[]>
  onUse(value: WantedOutput | undefined): void
  onClose(): void
}>

const KINDS = [
  { value: 'sample', label: 'Sample of the output' },
  { value: 'schema', label: 'JSON Schema' },
] as const

export function TargetDialog({ value, readFields, onUse, onClose }: TargetDialogProps) {
  const [kind, setKind] = useState<WantedOutput['kind']>(value?.kind ?? 'sample')
  const [text, setText] = useState(value?.text ?? '')
  const use = async () => {
    const part = targetPart(kind, text)
    onUse({ kind, text, part, fields: await readFields(part) })
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
      refused={text.trim() === '' ? 'Paste a text first.' : undefined}
      others={value && <Button text="Remove" onPress={remove} />}
      isDismissable={false}
      onConfirm={use}
      onClose={onClose}
    >
      <p>
        Its fields appear among the targets, so that you can connect them, and entries can be suggested. Nothing is
        stored; this tab keeps the text until you sign out or remove it.
      </p>
      <SelectField<WantedOutput['kind']> label="Kind" value={kind} choices={KINDS} onChange={setKind} />
      <TextField label="Text" rows={14} value={text} onChange={setText} />
    </ConfirmDialog>
  )
}

/** JSON goes as typed; any other text, such as XML, as a text. Fails with a sentence. */
function targetPart(kind: WantedOutput['kind'], text: string): string {
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
