/** `/keys`: who may call the API, for admins. */

import { type ReactNode, useState } from 'react'
import { api, readData, type Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { reload } from '../../api/query-keys.ts'
import { type Role, startSession, useMe, useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton, ConfirmDialog, Dialog } from '../../ui/controls/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/controls/fields.tsx'
import { copyText } from '../../ui/data/clipboard.ts'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Answer, Empty, Page } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

type ApiKey = Schemas['Key']

export default function KeysPage() {
  const refused = useRefusal('admin')
  // Of the page, not of a button: the list may load again while the new key is shown.
  const [isMaking, setMaking] = useState(false)
  const add = { tone: 'primary', refused, onPress: () => setMaking(true) } as const
  return (
    <Page title="API keys" actions={<Button text="New key …" {...add} />}>
      {refused === undefined ? (
        <KeyTable first={<Button text="Make the first key …" {...add} />} />
      ) : (
        <Empty title="API keys are for admins">{refused}</Empty>
      )}
      {isMaking && <NewKeyDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}

function KeyTable({ first }: Readonly<{ first: ReactNode }>) {
  const me = useMe()
  return (
    <Answer of={queries.keys} what="Loading the keys">
      {({ keys }) =>
        keys.length === 0 ? (
          <Empty title="There are no keys" action={first}>
            Without keys, every caller on this machine may do everything, and no other machine may call. From the first
            key on, each call of the API needs one, and so does this page.
          </Empty>
        ) : (
          <DataTable
            label="API keys"
            columns={createColumns(({ id }) => me?.who === `key:${id}`)}
            rows={keys.toReversed().toSorted((one, other) => rank(one) - rank(other))}
            getRowId={({ id }) => id}
          />
        )
      }
    </Answer>
  )
}

const rank = ({ revokedAt }: ApiKey): number => (revokedAt === undefined ? 0 : 1)

function KeyState({ revokedAt, expiresAt }: ApiKey) {
  if (revokedAt !== undefined) {
    return (
      <>
        <StatusChip tone="quiet">revoked</StatusChip> <Time at={revokedAt} />
      </>
    )
  }
  if (expiresAt === undefined) return <StatusChip tone="good">works</StatusChip>
  const isOver = Date.parse(expiresAt) <= Date.now()
  return (
    <>
      <StatusChip tone={isOver ? 'bad' : 'good'}>{isOver ? 'expired' : 'works until'}</StatusChip>{' '}
      <Time at={expiresAt} exact />
    </>
  )
}

const createColumns = (isOwn: (key: ApiKey) => boolean): readonly Column<ApiKey>[] => [
  {
    title: 'Name',
    isName: true,
    render: (key) => (
      <>
        <VisibleText as="strong" text={key.name} max={100} />
        {isOwn(key) && <span className="quiet"> (yours)</span>}
        <div className="quiet">
          <code>{key.id}</code>
        </div>
      </>
    ),
  },
  { title: 'Roles', render: ({ roles }) => roles.join(', ') },
  { title: 'Made', render: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'State', render: (key) => <KeyState {...key} /> },
  {
    title: 'Revoke',
    render: (key) =>
      key.revokedAt === undefined ? <RevokeButton {...key} isOwn={isOwn(key)} /> : <span className="quiet">–</span>,
  },
]

/** `isOwn`: it is the key that this page uses. */
function RevokeButton({ id, name, isOwn }: Pick<ApiKey, 'id' | 'name'> & Readonly<{ isOwn: boolean }>) {
  const revoke = async () => {
    await readData(api.DELETE('/keys/{id}', { params: { path: { id } } }))
    notify('The key is revoked.')
    await reload(queries.keys.queryKey)
  }
  return (
    <ConfirmButton
      text="Revoke …"
      label={`Revoke ${name}`}
      title="Revoke this key"
      confirm="Revoke key"
      tone="danger"
      onConfirm={revoke}
    >
      <p>
        Calls with the key “<VisibleText text={name} max={100} />” are refused from the next one on. It cannot be
        undone.
      </p>
      {isOwn && (
        <p>
          <strong>It is the key that you are signed in with:</strong> this page asks you for another one.
        </p>
      )}
    </ConfirmButton>
  )
}

type MadeKey = Schemas['Key'] & Readonly<{ key: string }>

function NewKeyDialog({ onClose }: Readonly<{ onClose(): void }>) {
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
    else void reload(queries.keys.queryKey)
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

const ROLE_CHOICES: readonly Readonly<{ role: Role; means: string }>[] = [
  { role: 'viewer', means: 'reads endpoints, tests, versions, statistics, and messages without their bodies' },
  { role: 'operator', means: 'the same, and reads bodies, replays messages, and marks groups of failures' },
  { role: 'author', means: 'what a viewer may, and changes, deletes and tests endpoints' },
  { role: 'admin', means: 'all of this, and makes keys and reads the audit log' },
]

const KEY_DAYS = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'never', label: 'Never' },
] as const
type KeyDays = (typeof KEY_DAYS)[number]['value']

const DAY_MS = 86_400_000

const expiryIn = (days: KeyDays): Readonly<{ expiresAt?: string }> =>
  days === 'never' ? {} : { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }

type ShownKeyProps = Readonly<{
  made: Readonly<{ name: string; key: string }>
  /** The page asks for a key from now on. */
  isFirst: boolean
  onClose(): void
}>

const ShownKey = ({ made, isFirst, onClose }: ShownKeyProps) => (
  <Dialog
    title="Copy the key now"
    onClose={onClose}
    isDismissable={false}
    actions={
      <>
        <Button text="Copy" onPress={() => void copyText(made.key, 'Key')} />
        <Button text="I have copied it" tone="primary" onPress={onClose} />
      </>
    }
  >
    <p>
      This is the key of “<VisibleText text={made.name} max={100} />
      ”. It is shown this once: the service stores its hash only.
    </p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a key that is wider than the dialog scrolls by keys */}
    <pre className="shown-key" tabIndex={0} role="group" aria-label="The key">
      {made.key}
    </pre>
    {isFirst && <p>When you close this, the page asks you to sign in with it.</p>}
  </Dialog>
)
