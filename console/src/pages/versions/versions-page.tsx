/** `/endpoints/:id/versions`: who changed what, any two versions side by side, and going back. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteEndpoint, type Version } from '../../api/changes/version-calls.ts'
import { queries } from '../../api/queries.ts'
import { queryParts } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { comparedVersions, restoreColumn, VERSION_COLUMNS } from '../../ui/data/versions.tsx'
import { EndpointPage, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { RestoreDialog } from './restore-dialog.tsx'
import { VersionComparison } from './version-comparison.tsx'

const route = getRouteApi('/endpoints/$id/versions')

export function VersionsPage() {
  const { id } = route.useParams()
  const { from, to } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: row } = useEndpointRow(id)
  const refused = useRefusal('author')
  const [restoring, setRestoring] = useState<number>()
  const [isDeleting, setDeleting] = useState(false)
  const query = useQuery(queries.versions(id))
  const compare = (changes: Readonly<{ from?: number; to?: number }>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false })
  const deleteRefused = refused ?? (row === null ? 'The endpoint is deleted already.' : undefined)
  return (
    <EndpointPage
      id={id}
      part="Versions"
      actions={
        <Button tone="danger" refused={deleteRefused} onPress={() => setDeleting(true)}>
          Delete endpoint …
        </Button>
      }
    >
      <QueryView query={query} what="Loading the versions">
        {(versions) => {
          const withDocument = versions.filter(({ method }) => method !== 'delete').map(({ version }) => version)
          const shown = comparedVersions(withDocument, from, to)
          return (
            <>
              <DataTable
                label="Versions"
                columns={versionColumns({ id, versions, refused, onRestore: setRestoring })}
                rows={versions}
                getRowId={({ version }) => String(version)}
                isCurrent={({ version }) => version === shown?.to}
              />
              {shown === undefined ? (
                <Empty title="There is one version">
                  The next change adds a second one, and this page shows what differs.
                </Empty>
              ) : (
                <VersionComparison id={id} versions={versions} {...shown} onChange={compare} />
              )}
            </>
          )
        }}
      </QueryView>
      {restoring !== undefined && <RestoreDialog id={id} version={restoring} onClose={() => setRestoring(undefined)} />}
      {isDeleting && row && <DeleteDialog id={id} name={row.name} onClose={() => setDeleting(false)} />}
    </EndpointPage>
  )
}

type VersionColumnsOptions = Readonly<{
  id: string
  versions: readonly Version[]
  /** Why the user may not restore. */
  refused: string | undefined
  onRestore(version: number): void
}>

function versionColumns({ id, versions, refused, onRestore }: VersionColumnsOptions): readonly Column<Version>[] {
  const current = versions[0]
  const explainRefusal = ({ version, method }: Version): string | undefined => {
    if (method === 'delete') return 'This version is a deletion: it has no document.'
    return version === current?.version ? 'This is the current version.' : refused
  }
  return [
    {
      title: 'Version',
      isName: true,
      render: ({ version, method }) => {
        const before = versions.find((one) => one.version < version && one.method !== 'delete')
        if (method === 'delete' || before === undefined) return <span>Version {version}</span>
        return (
          <Link
            to="/endpoints/$id/versions"
            params={{ id }}
            search={{ from: before.version, to: version }}
            resetScroll={false}
            data-row
          >
            Version {version}
          </Link>
        )
      },
    },
    ...VERSION_COLUMNS,
    restoreColumn(explainRefusal, onRestore),
  ]
}

function DeleteDialog({ id, name, onClose }: Readonly<{ id: string; name: string; onClose(): void }>) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const remove = async () => {
    await deleteEndpoint(id)
    await client.invalidateQueries({ queryKey: queryParts.endpoints })
    notify('The endpoint is deleted.')
    void navigate({ to: '/endpoints' })
  }
  return (
    <ConfirmDialog
      title="Delete this endpoint"
      confirm="Delete endpoint"
      tone="danger"
      refused={typed.trim() === name.trim() ? undefined : 'Type the name of the endpoint first.'}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Messages to{' '}
        <strong>
          <VisibleText text={name} max={200} />
        </strong>{' '}
        are answered with 404 from then on. Its state and its tests are deleted. Its versions stay: at this address one
        of them can be restored.
      </p>
      <TextField label="Name of the endpoint" value={typed} onChange={setTyped} />
    </ConfirmDialog>
  )
}
