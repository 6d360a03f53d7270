/** `/endpoints/:id/versions`: who changed what, any two versions side by side, and going back. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { queries } from '../../api/queries.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { comparedVersions } from '../../ui/data/version-range.tsx'
import { EndpointPage, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { RestoreDialog } from './restore-dialog.tsx'
import { versionColumns } from './version-columns.tsx'
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
