/** Making a key. It is shown once: neither the service nor this page can show it again. */

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, readData, type Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { type Role, startSession, useMe } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/controls/fields.tsx'
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
  const [made, setMade] = useState<MadeKey>()
  const make = async () => {
    setMade((await readData(api.POST('/keys', { body: { name, roles: [...roles], ...expiryIn(days) } }))) as MadeKey)
    return false
  }
  const close = () => {
    onClose()
    if (made === undefined) return
    if (isOpen) void startSession()
    else void client.invalidateQueries({ queryKey: queries.keys.queryKey })
  }
  if (made !== undefined) return <ShownKey made={made} isFirst={isOpen} onClose={close} />
  return (
    <ConfirmDialog
      title="New API key"
      confirm="Make key"
      refused={roles.length === 0 ? 'A key has at least one role.' : undefined}
      isDismissable={false}
      onConfirm={make}
      onClose={close}
    >
      {isOpen && (
        <p className="callout warn">
          This is the first key. From now on each call of the API needs one, and this page asks you to sign in with it.
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
    </ConfirmDialog>
  )
}
