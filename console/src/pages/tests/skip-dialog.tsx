/** Leaving a test out, with the reason that reports show. */
import { useState } from 'react'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'

export type SkipDialogProps = Readonly<{ name: string; onSkip(reason: string): Promise<void>; onClose(): void }>

export function SkipDialog({ name, onSkip, onClose }: SkipDialogProps) {
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const skip = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onSkip(reason.trim())
      onClose()
    } catch (thrown) {
      setFailure(asFailure(thrown))
      setBusy(false)
    }
  }
  const refused = reason.trim() === '' ? 'Give a reason first.' : undefined
  return (
    <Dialog
      title={`Skip the test “${name}”`}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button tone="primary" refused={refused} busy={busy} onPress={() => void skip()}>
            Skip
          </Button>
        </>
      }
    >
      <TextField label="Reason" value={reason} onChange={setReason} hint="Reports show it to everyone" />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </Dialog>
  )
}
