/** Signing in with an API key or an access token. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Schemas } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { reload } from '../api/query-keys.ts'
import { NO_KEY, signIn, signInAtProvider, signOut, startSession } from '../api/session.ts'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../ui/controls/fields.tsx'
import { FailureNotice } from '../ui/states/failure-notice.tsx'
import { Loading } from '../ui/states/states.tsx'
import { VisibleText } from '../ui/text/visible-text.tsx'

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
  const [key, setKey] = useState('')
  const [keep, setKeep] = useState(true)
  const { data, isPending: isAsking, error: unknown, refetch } = useQuery(queries.signIn)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => signIn(key.trim(), keep),
    onSuccess: () => void reload(),
  })
  const provider = useMutation({
    mutationFn: (oidc: Schemas['SignIn']) => signInAtProvider(oidc, keep),
  })
  const type = (typed: string) => {
    setKey(typed)
    reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key.trim() !== '') mutate()
  }
  if (isAsking) return <Loading what="Asking the service how to sign in" />
  const oidc = data?.oidc
  return (
    <form className="stack" onSubmit={submit}>
      <VisibleText as="p" text={oidc && why === NO_KEY ? AT_PROVIDER : why} max={1000} />
      <FailureNotice failure={unknown} onRetry={() => void refetch()} />
      {oidc && (
        <>
          <Button tone="primary" busy={provider.isPending} onPress={() => provider.mutate(oidc)}>
            Sign in at <VisibleText text={new URL(oidc.provider.issuer).host} max={100} />
          </Button>
          <FailureNotice failure={provider.error} />
        </>
      )}
      <TextField
        label={oidc ? 'Or paste an access token' : 'API key or access token'}
        type="password"
        value={key}
        onChange={type}
        isRequired
        hint={oidc ? undefined : WITHOUT_KEY}
      />
      <Checkbox text="Keep it until this tab is closed" checked={keep} onChange={setKeep} />
      <FailureNotice failure={error} />
      <Button text="Sign in" type="submit" tone={oidc ? 'plain' : 'primary'} busy={isPending} />
    </form>
  )
}

const AT_PROVIDER = 'Sign in with your account at the identity provider.'
const WITHOUT_KEY =
  'If you have none, ask an administrator: API keys are made on the page API keys, or on the machine of the service with npm start -- keys create.'

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
