/** Dialogs: one frame for all of them, and the one that asks before something is done. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { Dialog as AriaDialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { useKey } from '../keys/keymap.ts'
import { FailureNotice } from '../states/failure-notice.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { Button, type ButtonProps } from './button.tsx'
import { TextField, type TextFieldProps } from './fields.tsx'

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

export type ConfirmFormProps = Readonly<{
  children?: ReactNode
  /** A text that is asked for below that; `explainRefusal`: why it will not do. */
  field?: Omit<TextFieldProps, 'value' | 'onChange'> &
    Readonly<{ initial?: string; explainRefusal?(text: string): string | undefined }>
  /** The word of the button that does it. */
  confirm: string
  tone?: 'primary' | 'danger'
  /** Why it cannot be done yet. */
  refused?: string | undefined
  /** Does it too, as `useKey` has it. */
  keys?: string
  /** Other buttons, before these. */
  others?: ReactNode
  /** Nothing has to be filled in: it is done once without the button. */
  isStarted?: boolean
  /** A failure stays here with its reason; otherwise the dialog closes, unless this gives false: there is a next step. */
  onConfirm(text: string): unknown
  /** What may follow a failure instead. */
  onRetry?(failure: ApiFailure): (() => void) | undefined
  onClose(): void
}>

/** The form of a dialog: what is asked, why it failed, and its buttons. */
export function ConfirmForm({ children, confirm, tone = 'primary', isStarted, ...given }: ConfirmFormProps) {
  const { keys, others, onConfirm, onRetry, onClose } = given
  const { initial = '', explainRefusal, ...field } = given.field ?? {}
  const [text, setText] = useState(initial)
  const refused = given.refused ?? explainRefusal?.(text)
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => onConfirm(text),
    onSuccess: (result) => {
      if (result !== false) onClose()
    },
  })
  const run = () => {
    if (refused === undefined && !isPending) mutate()
  }
  const start = useEffectEvent(run)
  useEffect(() => {
    if (isStarted) start()
  }, [isStarted])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    run()
  }
  useKey(keys ?? '', confirm, keys === undefined ? undefined : run)
  return (
    <form className="stack" onSubmit={submit}>
      <div className="flow breaks">
        {children}
        {'label' in field && <TextField {...field} value={text} onChange={setText} />}
      </div>
      <FailureNotice failure={error} onRetry={error === null ? undefined : onRetry?.(asFailure(error))} />
      <div className="row to-end">
        {others}
        <Button text="Cancel" onPress={onClose} />
        <Button type="submit" tone={tone} refused={refused} busy={isPending} {...(keys && { keys })}>
          {confirm}
        </Button>
      </div>
    </form>
  )
}

export type ConfirmDialogProps = Omit<DialogProps, 'actions' | 'children'> &
  ConfirmFormProps &
  Readonly<{
    /** What came of it: shown in place of what was asked. */
    result?: ReactNode
  }>

/** Asks before something is done: what will happen and whether it can be undone, or the fields of what is done. */
export function ConfirmDialog({ title, size, isDismissable, result, ...form }: ConfirmDialogProps) {
  const frame = {
    title,
    onClose: form.onClose,
    ...(size && { size }),
    ...(isDismissable === false && { isDismissable }),
  }
  if (result === undefined) {
    return (
      <Dialog {...frame}>
        <ConfirmForm {...form} />
      </Dialog>
    )
  }
  return (
    <Dialog {...frame} actions={<Button text="Close" tone="primary" onPress={form.onClose} />}>
      {result}
    </Dialog>
  )
}

type DialogButtonProps = Omit<ButtonProps, 'onPress'> & Readonly<{ dialog(close: () => void): ReactNode }>

/** A button with the dialog that it opens; the dialog goes with the button. */
export function DialogButton({ dialog, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button {...button} onPress={() => setOpen(true)} />
      {isOpen && dialog(() => setOpen(false))}
    </>
  )
}

type ConfirmButtonProps = Pick<ButtonProps, 'refused' | 'tone' | 'label'> &
  Omit<ConfirmDialogProps, 'refused' | 'tone' | 'onClose'> &
  Readonly<{ text: string }>

/** A button that asks before it does something. A `tone` of quiet or danger is for what takes something away. */
export const ConfirmButton = ({ text, refused, label, tone = 'plain', ...asked }: ConfirmButtonProps) => (
  <DialogButton
    text={text}
    refused={refused}
    tone={tone}
    {...(label !== undefined && { label })}
    dialog={(close) => (
      <ConfirmDialog {...asked} tone={tone === 'danger' || tone === 'quiet' ? 'danger' : 'primary'} onClose={close} />
    )}
  />
)
