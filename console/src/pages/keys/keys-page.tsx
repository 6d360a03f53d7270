/** `/keys`: who may call the API, for admins. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, readData, type Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe, useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'

type ApiKey = Schemas['Key']

export function KeysPage() {
  const refused = useRefusal('admin')
  const [isMaking, setMaking] = useState(false)
  return (
    <Page
      title="API keys"
      actions={<Button text="New key …" tone="primary" refused={refused} onPress={() => setMaking(true)} />}
    >
      {refused === undefined ? (
        <KeyTable onNew={() => setMaking(true)} />
      ) : (
        <Empty title="API keys are for admins">{refused}</Empty>
      )}
      {isMaking && <NewKeyDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}

function KeyTable({ onNew }: Readonly<{ onNew(): void }>) {
  const me = useMe()
  const [revoked, setRevoked] = useState<ApiKey>()
  const query = useQuery(queries.keys)
  const isOwn = ({ id }: ApiKey) => me?.who === `key:${id}`
  return (
    <>
      <QueryView query={query} what="Loading the keys">
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty
              title="There are no keys"
              action={<Button text="Make the first key …" tone="primary" onPress={onNew} />}
            >
              Without keys, every caller on this machine may do everything, and no other machine may call. From the
              first key on, each call of the API needs one, and so does this page.
            </Empty>
          ) : (
            <DataTable
              label="API keys"
              columns={createColumns(isOwn, setRevoked)}
              rows={keys.toReversed().toSorted((one, other) => rank(one) - rank(other))}
              getRowId={({ id }) => id}
            />
          )
        }
      </QueryView>
      {revoked !== undefined && (
        <RevokeDialog apiKey={revoked} isOwn={isOwn(revoked)} onClose={() => setRevoked(undefined)} />
      )}
    </>
  )
}

/** Keys that work come first. */
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

function createColumns(isOwn: (key: ApiKey) => boolean, onRevoke: (key: ApiKey) => void): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      isName: true,
      render: (key) => (
        <>
          <strong>
            <VisibleText text={key.name} max={100} />
          </strong>
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
        key.revokedAt === undefined ? (
          <Button text="Revoke …" tone="danger" label={`Revoke ${key.name}`} onPress={() => onRevoke(key)} />
        ) : (
          <span className="quiet">–</span>
        ),
    },
  ]
}

type RevokeDialogProps = Readonly<{
  apiKey: Readonly<{ id: string; name: string }>
  /** It is the key that this page uses. */
  isOwn: boolean
  onClose(): void
}>

function RevokeDialog({ apiKey: { id, name }, isOwn, onClose }: RevokeDialogProps) {
  const client = useQueryClient()
  const revoke = async () => {
    await readData(api.DELETE('/keys/{id}', { params: { path: { id } } }))
    notify('The key is revoked.')
    await client.invalidateQueries({ queryKey: queries.keys.queryKey })
  }
  return (
    <ConfirmDialog title="Revoke this key" confirm="Revoke key" tone="danger" onConfirm={revoke} onClose={onClose}>
      <p>
        Calls with the key “<VisibleText text={name} max={100} />” are refused from the next one on. It cannot be
        undone.
      </p>
      {isOwn && (
        <p>
          <strong>It is the key that you are signed in with:</strong> this page asks you for another one.
        </p>
      )}
    </ConfirmDialog>
  )
}
