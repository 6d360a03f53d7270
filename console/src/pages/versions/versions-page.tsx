/** `/endpoints/:id/versions`: who changed what, any two versions side by side, and going back. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteEndpoint, readVersion, type Version } from '../../api/document-calls.ts'
import { queries } from '../../api/queries.ts'
import { answerKey, keyed, queryParts } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { layOutDocument } from '../../draft/document-layout.ts'
import { LazyDiffView } from '../../ui/code/lazy-views.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { comparedVersions, restoreColumn, VERSION_COLUMNS, VersionRange } from '../../ui/data/versions.tsx'
import { ChangeList } from '../../ui/endpoint/change-list.tsx'
import { EndpointPage, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { RestoreDialog } from './restore-dialog.tsx'

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
        <Button text="Delete endpoint …" tone="danger" refused={deleteRefused} onPress={() => setDeleting(true)} />
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

type VersionComparisonProps = Readonly<{
  id: string
  versions: readonly Version[]
  from: number
  to: number
  onChange(changes: Readonly<{ from?: number; to?: number }>): void
}>

function VersionComparison({ id, versions, from, to, onChange }: VersionComparisonProps) {
  const difference = useQuery({ ...queries.versionDiff(id, from, to), placeholderData: keepPreviousData })
  const before = useVersionText(id, from)
  const after = useVersionText(id, to)
  const choices = versions
    .filter(({ method }) => method !== 'delete')
    .map(({ version, origin: { note } }) => ({
      value: String(version),
      label: note === undefined ? `Version ${version}` : `Version ${version} – ${note.slice(0, 60)}`,
    }))
  return (
    <section className="panel" aria-labelledby="comparison">
      <VersionRange id="comparison" from={from} to={to} choices={choices} onChange={onChange} />
      <QueryView query={difference} what="Comparing">
        {({ changes }) => <ChangeList changes={changes} />}
      </QueryView>
      <QueryView query={before}>
        {(earlier) => (
          <QueryView query={after}>
            {(later) => (
              <LazyDiffView
                before={{ title: `Version ${from}`, text: earlier }}
                after={{ title: `Version ${to}`, text: later }}
              />
            )}
          </QueryView>
        )}
      </QueryView>
    </section>
  )
}

/** A version never changes. Laid out as in the editor, without the fields that the service sets itself. */
const useVersionText = (id: string, version: number) =>
  useQuery({
    ...keyed(answerKey<string>('version-text', 'of', id, version), async ({ signal }) =>
      layOutDocument((await readVersion(id, version, signal)) ?? ''),
    ),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
