/** Leaving a test out, with the reason that reports show. */
import { useState } from 'react'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'

export type SkipDialogProps = Readonly<{ name: string; onSkip(reason: string): Promise<void>; onClose(): void }>

export function SkipDialog({ name, onSkip, onClose }: SkipDialogProps) {
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog
      title={`Skip the test “${name}”`}
      confirm="Skip"
      refused={reason.trim() === '' ? 'Give a reason first.' : undefined}
      onConfirm={() => onSkip(reason.trim())}
      onClose={onClose}
    >
      <TextField label="Reason" value={reason} onChange={setReason} hint="Reports show it to everyone" />
    </ConfirmDialog>
  )
}
