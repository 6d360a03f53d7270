/** `/endpoints/:id/versions`: who changed what, any two versions side by side, and going back. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { get } from '../../api/client.ts'
import { readDocument, readEtag, readVersion, restoreVersion, type VersionDiff } from '../../api/document-calls.ts'
import { queries } from '../../api/queries.ts'
import { answerKey, keyed, queryParts, reload } from '../../api/query-keys.ts'
import { layOutDocument } from '../../draft/document-layout.ts'
import { LazyDiffView } from '../../ui/code/lazy-views.tsx'
import { ChangeDialog } from '../../ui/controls/change-dialog.tsx'
import { VersionsView } from '../../ui/data/versions.tsx'
import { ChangeList } from '../../ui/endpoint/change-list.tsx'
import { EndpointPage } from '../../ui/endpoint/endpoint-page.tsx'
import { notifyStored } from '../../ui/states/notices.tsx'
import { Answer, QueryView } from '../../ui/states/states.tsx'

const route = getRouteApi('/endpoints/$id/versions')

export default function VersionsPage() {
  const { id } = route.useParams()
  const search = route.useSearch()
  return (
    <EndpointPage id={id} part="Versions">
      <Answer of={queries.versions(id)} what="Loading the versions">
        {(versions) => (
          <VersionsView
            versions={versions}
            content="document"
            hasContent={({ method }) => method !== 'delete'}
            search={search}
            restoreDialog={(version, close) => <RestoreDialog id={id} version={version} onClose={close} />}
          >
            {(from, to) => <Comparison id={id} from={from} to={to} />}
          </VersionsView>
        )}
      </Answer>
    </EndpointPage>
  )
}

function Comparison({ id, from, to }: Readonly<{ id: string; from: number; to: number }>) {
  const before = useVersionText(id, from)
  const after = useVersionText(id, to)
  return (
    <>
      <Answer of={{ ...queries.versionDiff(id, from, to), placeholderData: keepPreviousData }} what="Comparing">
        {({ changes }) => <ChangeList changes={changes} />}
      </Answer>
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
    </>
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

/** `changes`: none of an endpoint that is not stored any more. */
type RestorePlan = Readonly<{ etag: string | undefined; changes: VersionDiff['changes'] | undefined }>

/** Not the changes that the page shows: somebody may have changed the endpoint since. */
async function readRestorePlan(id: string, version: number): Promise<RestorePlan> {
  const etag = await readEtag(readDocument(id))
  const [current] = await get('/endpoints/{id}/versions', { path: { id } })
  if (etag === undefined || current === undefined) return { etag, changes: undefined }
  const path = { id, version: current.version, other: version }
  const { changes } = await get('/endpoints/{id}/versions/{version}/diff/{other}', { path })
  return { etag, changes }
}

const RestoreDialog = ({ id, version, onClose }: Readonly<{ id: string; version: number; onClose(): void }>) => (
  <ChangeDialog<RestorePlan>
    title={`Restore version ${version}`}
    confirm="Restore"
    readPlan={() => readRestorePlan(id, version)}
    renderPlan={({ changes }) => (
      <>
        <p>The next message uses this version. It becomes a new version, so it can be undone in the same way.</p>
        {changes === undefined ? (
          <p>The endpoint was deleted; it comes back with its old id.</p>
        ) : (
          <ChangeList changes={changes} />
        )}
      </>
    )}
    store={async ({ etag }, note) => {
      const { warnings } = await restoreVersion(id, version, { ifMatch: etag, note })
      await reload(queryParts.endpoints)
      notifyStored(`Version ${version} is active again.`, warnings)
    }}
    onClose={onClose}
  />
)
