/** A change that is shown before it is made: what to change is filled in, then what it does is seen, and stored with a note. */
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { ConfirmForm, Dialog } from './dialog.tsx'
import { TextField } from './fields.tsx'

export type ChangeDialogProps<Plan> = Readonly<{
  title: string
  /** What is filled in; undefined if nothing is: what the change does is shown at once. */
  children?: ReactNode
  /** Why there is nothing to show yet. */
  refused?: string | undefined
  /** The form is complete when it opens. */
  isComplete?: boolean
  /** The word of the button that shows what the change does. */
  show?: string
  /** What the change would do; nothing is stored. Fails with an ApiFailure. */
  readPlan(): Promise<Plan>
  renderPlan(plan: Plan): ReactNode
  /** Why a plan cannot be stored. */
  explainRefusal?(plan: Plan): string | undefined
  /** The word of the button that stores it. */
  confirm: string | ((plan: Plan) => string)
  /** Fails with an ApiFailure; its status is 412 if the plan is out of date. */
  store(plan: Plan, note: string): Promise<void>
  onClose(): void
}>

export function ChangeDialog<Plan>({ title, children, refused, isComplete, ...given }: ChangeDialogProps<Plan>) {
  const { show = 'Show the changes', readPlan, renderPlan, explainRefusal, confirm, store, onClose } = given
  const [note, setNote] = useState('')
  const [plan, setPlan] = useState<Plan>()
  const [isStarted, setStarted] = useState(children === undefined || isComplete === true)
  const leavePlan = (startsAgain: boolean) => {
    setStarted(startsAgain)
    setPlan(undefined)
  }
  return (
    <Dialog title={title} size="large" onClose={onClose} isDismissable={false}>
      {plan === undefined ? (
        <ConfirmForm
          key="form"
          confirm={show}
          refused={refused}
          isStarted={isStarted}
          onConfirm={async () => {
            setPlan(await readPlan())
            return false
          }}
          onClose={onClose}
        >
          {children}
        </ConfirmForm>
      ) : (
        <ConfirmForm
          key="plan"
          confirm={typeof confirm === 'string' ? confirm : confirm(plan)}
          refused={explainRefusal?.(plan)}
          others={children !== undefined && <Button text="Back" onPress={() => leavePlan(false)} />}
          onConfirm={() => store(plan, note.trim())}
          onRetry={({ status }) => (status === 412 ? () => leavePlan(true) : undefined)}
          onClose={onClose}
        >
          {renderPlan(plan)}
          <TextField label="Note" value={note} onChange={setNote} hint="For the versions and the audit log" />
        </ConfirmForm>
      )}
    </Dialog>
  )
}
