/** Making a key. It is shown once: neither the service nor this page can show it again. */
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { api, readData, type Schemas } from '../../api/client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { type Role, startSession, useMe } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/controls/fields.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { expiryIn, KEY_DAYS, type KeyDays, ROLE_CHOICES } from './key-choices.ts'
import { ShownKey } from './shown-key.tsx'

type MadeKey = Schemas['Key'] & Readonly<{ key: string }>

export function NewKeyDialog({ onClose }: Readonly<{ onClose(): void }>) {
  const client = useQueryClient()
  const isOpen = useMe()?.mode === 'open'
  const [name, setName] = useState('')
  // While there are no keys, the first one must be able to make others, also in a year.
  const [roles, setRoles] = useState<readonly Role[]>(isOpen ? ['admin'] : ['viewer'])
  const [days, setDays] = useState<KeyDays>(isOpen ? 'never' : '90')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const [made, setMade] = useState<MadeKey>()
  const make = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    try {
      setMade((await readData(api.POST('/keys', { body: { name, roles: [...roles], ...expiryIn(days) } }))) as MadeKey)
    } catch (thrown) {
      setFailure(asFailure(thrown))
      setBusy(false)
    }
  }
  const close = () => {
    onClose()
    if (made === undefined) return
    if (isOpen) void startSession()
    else void client.invalidateQueries({ queryKey: queryKeys.keys })
  }
  if (made !== undefined) return <ShownKey made={made} isFirst={isOpen} onClose={close} />
  const refused = roles.length === 0 ? 'A key has at least one role.' : undefined
  return (
    <Dialog title="New API key" onClose={close} isDismissable={false}>
      <form className="dialog-form stack" onSubmit={(event) => void make(event)}>
        {isOpen && (
          <p className="callout warn">
            This is the first key. From now on each call of the API needs one, and this page asks you to sign in with
            it.
            {roles.includes('admin')
              ? ''
              : ' Without the role admin it cannot make other keys: only the command line can then.'}
          </p>
        )}
        <TextField label="Name" value={name} onChange={setName} isRequired hint="Who or what uses it" />
        <fieldset>
          <legend>Roles</legend>
          {ROLE_CHOICES.map(({ role, means }) => (
            <Checkbox
              key={role}
              checked={roles.includes(role)}
              onChange={(isOn) => setRoles(isOn ? [...roles, role] : roles.filter((one) => one !== role))}
            >
              <strong>{role}</strong> <span className="quiet">{means}</span>
            </Checkbox>
          ))}
        </fieldset>
        <SelectField<KeyDays> label="Expires" value={days} choices={KEY_DAYS} onChange={setDays} />
        {failure === undefined ? null : <FailureNotice failure={failure} />}
        <div className="row to-end">
          <Button onPress={close}>Cancel</Button>
          <Button tone="primary" type="submit" refused={refused} busy={busy}>
            Make key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
