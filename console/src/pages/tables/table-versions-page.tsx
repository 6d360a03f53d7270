/** `/tables/:name/versions`: who changed what, any two versions, and going back. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { compareTableVersions, deleteTable, restoreTable, type TableVersion } from '../../api/table-calls.ts'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { VersionsView } from '../../ui/data/versions.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Answer, QueryView } from '../../ui/states/states.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'
import { TableChanges } from '../../ui/table/table-changes.tsx'
import { TableFrame } from './table-page.tsx'

const route = getRouteApi('/tables/$name/versions')

export default function TableVersionsPage() {
  const { name } = route.useParams()
  const search = route.useSearch()
  const refused = useRefusal('author')
  const navigate = useNavigate()
  const query = useQuery(queries.tableVersions(name))
  const isDeleted = query.data?.[0]?.rows === undefined
  const remove = async () => {
    await deleteTable(name, {})
    await reload(queryParts.tables)
    notify(`The table ${name} is deleted.`)
    void navigate({ to: '/tables' })
  }
  return (
    <TableFrame
      name={name}
      part="Versions"
      actions={
        isDeleted ? undefined : (
          <ConfirmButton
            text="Delete table …"
            title={`Delete ${name}`}
            confirm="Delete table"
            tone="danger"
            refused={refused}
            onConfirm={remove}
          >
            A table that an endpoint reads is not deleted. Its versions are kept: one of them can be restored.
          </ConfirmButton>
        )
      }
    >
      {() => (
        <QueryView query={query} what="Loading the versions">
          {(versions) => (
            <VersionsView
              versions={versions}
              content="rows"
              hasContent={hasRows}
              more={ROWS}
              search={search}
              restoreDialog={(version, close) => (
                <StoreDialog
                  title={`Restore version ${version}`}
                  name={name}
                  compare={() => compareTableVersions(name, versions.find(hasRows)?.version ?? 0, version)}
                  store={(change) => restoreTable(name, version, change)}
                  onClose={close}
                />
              )}
            >
              {(from, to) => <Comparison name={name} from={from} to={to} />}
            </VersionsView>
          )}
        </QueryView>
      )}
    </TableFrame>
  )
}

const hasRows = ({ rows }: TableVersion): boolean => rows !== undefined

const ROWS: readonly Column<TableVersion>[] = [
  { title: 'Rows', align: 'end', render: ({ rows }) => rows?.toLocaleString('en') ?? '–' },
]

const Comparison = ({ name, from, to }: Readonly<{ name: string; from: number; to: number }>) => (
  <>
    {from !== to && (
      <Answer
        of={{
          ...queries.tableDiff(name, from, to),
          enabled: from !== to,
          placeholderData: keepPreviousData,
        }}
        what="Comparing"
      >
        {(diff) => <TableChanges diff={diff} />}
      </Answer>
    )}
    <Effect name={name} version={to} />
  </>
)

/** What a version changed for messages that came before it; they are run dry once, when this is shown. */
const Effect = ({ name, version }: Readonly<{ name: string; version: number }>) => (
  <>
    <h3>Past messages</h3>
    <Answer
      of={{ ...queries.tableEffect(name, version), staleTime: Number.POSITIVE_INFINITY }}
      what="Running past messages dry"
    >
      {({ before, messages, changed, unknown, ids }) =>
        messages === 0 ? (
          <p className="quiet">None of the newest messages read the table.</p>
        ) : (
          <p>
            {wholeNumber(messages)} of the newest messages read the table. Version {version} maps{' '}
            <strong>{wholeNumber(changed)}</strong> of them otherwise than{' '}
            {before === 0 ? 'when they came' : `version ${before}`}
            {unknown > 0 && `; of ${wholeNumber(unknown)}, the bodies were not kept`}.{' '}
            {ids.length > 0 && (
              <Link to="/messages" search={{ id: ids }}>
                {ids.length < changed ? `Show ${ids.length} of them` : 'Show them'}
              </Link>
            )}
          </p>
        )
      }
    </Answer>
  </>
)
