/** Dialogs: one frame for all of them, and the one that asks before something is done. */
import { type ReactNode, useState } from 'react'
import { Dialog as AriaDialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { FailureNotice } from '../states/failure-notice.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { Button } from './button.tsx'

export type DialogProps = Readonly<{
  title: string
  children: ReactNode
  onClose(): void
  /** Its buttons, the one that continues last. */
  actions?: ReactNode
  size?: 'small' | 'large'
  /** A click outside closes it; not where that would lose what was typed. */
  isDismissable?: boolean
}>

/** A modal dialog, shown while it is rendered. Esc closes it; the focus returns to where it was. */
export function Dialog({ title, children, onClose, actions, size = 'small', isDismissable = true }: DialogProps) {
  return (
    <ModalOverlay
      className="dialog-overlay"
      isOpen
      isDismissable={isDismissable}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose()
      }}
    >
      <Modal className={`dialog ${size}`}>
        <AriaDialog className="dialog-body">
          <Heading slot="title" className="dialog-title">
            <VisibleText text={title} max={300} />
          </Heading>
          {children}
          {actions === undefined ? null : <div className="row to-end">{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

export type ConfirmDialogProps = Readonly<{
  title: string
  /** What will happen, and whether it can be undone. */
  children: ReactNode
  /** The word of the button that does it. */
  confirm: string
  tone?: 'primary' | 'danger'
  /** A failure stays in the dialog with its reason; otherwise it closes. */
  onConfirm(): Promise<void> | void
  onClose(): void
}>

export function ConfirmDialog({ title, children, confirm, tone = 'primary', onConfirm, onClose }: ConfirmDialogProps) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const run = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (thrown) {
      setFailure(asFailure(thrown))
      setBusy(false)
    }
  }
  const actions = (
    <>
      <Button onPress={onClose}>Cancel</Button>
      <Button tone={tone} busy={busy} onPress={() => void run()}>
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      <div className="breaks">{children}</div>
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </Dialog>
  )
}
