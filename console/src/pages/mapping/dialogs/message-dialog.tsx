/** A message that is typed or pasted. It is not stored: it runs dry only. */
import { useState } from 'react'
import { Button } from '../../../ui/controls/button.tsx'
import { Dialog } from '../../../ui/controls/dialog.tsx'
import { TextField } from '../../../ui/controls/fields.tsx'

/** The body as it would arrive, and its media type if it is not that of the endpoint. */
export type TypedBody = Readonly<{ body: string; contentType: string }>

export const NO_BODY: TypedBody = { body: '', contentType: '' }

export type MessageDialogProps = Readonly<{
  value: TypedBody
  onUse(value: TypedBody): void
  onClose(): void
}>

export function MessageDialog({ value, onUse, onClose }: MessageDialogProps) {
  const [body, setBody] = useState(value.body)
  const [contentType, setContentType] = useState(value.contentType)
  const use = () => {
    onUse({ body, contentType })
    onClose()
  }
  const actions = (
    <>
      <Button onPress={onClose}>Cancel</Button>
      <Button tone="primary" refused={body.trim() === '' ? 'Type a body first.' : undefined} onPress={use}>
        Run dry
      </Button>
    </>
  )
  return (
    <Dialog title="Type a message" size="large" onClose={onClose} actions={actions} isDismissable={false}>
      <p className="breaks">The body runs through the draft. Nothing is sent on or stored.</p>
      <TextField label="Body" rows={14} value={body} onChange={setBody} />
      <TextField
        label="Content type"
        placeholder="Same as the endpoint's input"
        value={contentType}
        onChange={setContentType}
      />
    </Dialog>
  )
}
