/** Signing in with an API key or an access token. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { signIn, signOut, startSession } from '../api/session.ts'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../ui/controls/fields.tsx'
import { FailureNotice } from '../ui/states/failure-notice.tsx'
import { Loading } from '../ui/states/states.tsx'

type SignInProps = Readonly<{
  /** Why the user has to sign in. */
  why: string
}>

export function SignInPage({ why }: SignInProps) {
  return (
    <main className="sign-in">
      <h1>Crosswalk</h1>
      <SignInForm why={why} />
    </main>
  )
}

/** Over the page of somebody who was signed in: what is typed there is not lost. */
export function SignInDialog({ why }: SignInProps) {
  return (
    <Dialog title="Sign in again" onClose={signOut} isDismissable={false}>
      <SignInForm why={why} />
      <p className="hint">The page behind is kept. Esc signs out and discards it.</p>
    </Dialog>
  )
}

function SignInForm({ why }: SignInProps) {
  const client = useQueryClient()
  const [key, setKey] = useState('')
  const [keep, setKeep] = useState(true)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => signIn(key.trim(), keep),
    onSuccess: () => void client.invalidateQueries(),
  })
  const type = (typed: string) => {
    setKey(typed)
    reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key.trim() !== '') mutate()
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>{why}</p>
      <TextField
        label="API key or access token"
        type="password"
        value={key}
        onChange={type}
        isRequired
        hint="If you have none, ask an administrator: API keys are made on the page API keys, or on the machine of the service with npm start -- keys create."
      />
      <Checkbox checked={keep} onChange={setKeep}>
        Keep it until this tab is closed
      </Checkbox>
      <FailureNotice failure={error} />
      <Button text="Sign in" type="submit" tone="primary" busy={isPending} />
    </form>
  )
}

/** Before the service has answered for the first time. */
export function StartingPage({ isAway }: Readonly<{ isAway: boolean }>) {
  return (
    <main className="sign-in">
      <h1>Crosswalk</h1>
      {isAway ? (
        <div className="failure" role="alert">
          <p className="failure-sentence">The service does not answer.</p>
          <Button text="Retry" onPress={() => void startSession()} />
        </div>
      ) : (
        <Loading what="Asking the service who you are" />
      )}
    </main>
  )
}
