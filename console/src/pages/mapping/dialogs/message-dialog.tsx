/** A message that is typed or pasted. It is not stored: it runs dry only. */
import { useState } from 'react'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { TextField } from '../../../ui/controls/fields.tsx'

/** The body as it would arrive, and its media type if it is not that of the endpoint. */
export type TypedBody = Readonly<{ body: string; contentType: string }>

export type MessageDialogProps = Readonly<{
  value: TypedBody | undefined
  onUse(value: TypedBody): void
  onClose(): void
}>

export function MessageDialog({ value, onUse, onClose }: MessageDialogProps) {
  const [body, setBody] = useState(value?.body ?? '')
  const [contentType, setContentType] = useState(value?.contentType ?? '')
  return (
    <ConfirmDialog
      title="Type a message"
      size="large"
      confirm="Run dry"
      refused={body.trim() === '' ? 'Type a body first.' : undefined}
      isDismissable={false}
      onConfirm={() => onUse({ body, contentType })}
      onClose={onClose}
    >
      <p>
        The body runs through the draft. Nothing is sent on or stored; this tab keeps the text until you sign out or
        choose None.
      </p>
      <TextField label="Body" rows={14} value={body} onChange={setBody} />
      <TextField
        label="Content type"
        placeholder="Same as the endpoint's input"
        value={contentType}
        onChange={setContentType}
      />
    </ConfirmDialog>
  )
}
