/** `/tables/:name/versions`: who changed what, any two versions, and going back. */

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import { queryParts } from '../../api/query-keys.ts'
import { useRefusal } from '../../api/session.ts'
import { compareTableVersions, deleteTable, restoreTable, type TableVersion } from '../../api/table-calls.ts'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { comparedVersions, restoreColumn, VERSION_COLUMNS, VersionRange } from '../../ui/data/versions.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { StoreDialog } from '../../ui/table/store-dialog.tsx'
import { TableChanges } from '../../ui/table/table-changes.tsx'
import { TableFrame } from './table-frame.tsx'

const route = getRouteApi('/tables/$name/versions')

export function TableVersionsPage() {
  const { name } = route.useParams()
  const search = route.useSearch()
  const refused = useRefusal('author')
  const client = useQueryClient()
  const navigate = useNavigate()
  const query = useQuery(queries.tableVersions(name))
  const [newest] = query.data ?? []
  const isDeleted = newest?.rows === undefined
  const remove = async () => {
    await deleteTable(name, {})
    await client.invalidateQueries({ queryKey: queryParts.tables })
    notify(`The table ${name} is deleted.`)
    void navigate({ to: '/tables' })
  }
  const explainRefusal = ({ version, rows }: TableVersion): string | undefined => {
    if (rows === undefined) return 'This version is a deletion: it has no rows.'
    return version === newest?.version ? 'This is the current version.' : refused
  }
  const columns: readonly Column<TableVersion>[] = [
    {
      title: 'Version',
      isName: true,
      render: ({ version }) => (
        <span data-row tabIndex={-1}>
          Version {version}
        </span>
      ),
    },
    ...VERSION_COLUMNS,
    { title: 'Rows', align: 'end', render: ({ rows }) => rows?.toLocaleString('en') ?? '–' },
    restoreColumn(explainRefusal, (version, close) => (
      <StoreDialog
        title={`Restore version ${version}`}
        name={name}
        compare={() => compareTableVersions(name, lastWithRows(query.data ?? []), version)}
        store={(change) => restoreTable(name, version, change)}
        onClose={close}
      />
    )),
  ]
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
            <>
              <DataTable
                label="Versions"
                columns={columns}
                rows={versions}
                getRowId={({ version }) => String(version)}
              />
              <Comparison name={name} versions={versions} {...search} />
            </>
          )}
        </QueryView>
      )}
    </TableFrame>
  )
}

const NONE = { from: 0, to: 0 }

type ComparisonProps = Readonly<{
  name: string
  versions: readonly TableVersion[]
  from?: number | undefined
  to?: number | undefined
}>

/** The two of the URL, else the newest and the one before. */
function Comparison({ name, versions, from, to }: ComparisonProps) {
  const navigate = route.useNavigate()
  const withRows = versions.filter(({ rows }) => rows !== undefined).map(({ version }) => version)
  const { from: before, to: after } = comparedVersions(withRows, from, to) ?? NONE
  const difference = useQuery({
    ...queries.tableDiff(name, before, after),
    enabled: before !== after,
    placeholderData: keepPreviousData,
  })
  if (withRows.length < 2) {
    const title = versions.length > 1 ? 'There is one version with rows' : 'There is one version'
    return <Empty title={title}>The next change adds a second one.</Empty>
  }
  const choices = withRows.map((version) => ({ value: String(version), label: `Version ${version}` }))
  const choose = (changes: Readonly<{ from?: number; to?: number }>) =>
    void navigate({ search: (search) => ({ ...search, ...changes }), replace: true, resetScroll: false })
  return (
    <section className="panel" aria-labelledby="comparison">
      <VersionRange id="comparison" from={before} to={after} choices={choices} onChange={choose} />
      {before !== after && (
        <QueryView query={difference} what="Comparing">
          {(diff) => <TableChanges diff={diff} />}
        </QueryView>
      )}
      <Effect name={name} version={after} />
    </section>
  )
}

/** What a version changed for messages that came before it; they are run dry once, when this is shown. */
function Effect({ name, version }: Readonly<{ name: string; version: number }>) {
  const query = useQuery({ ...queries.tableEffect(name, version), staleTime: Number.POSITIVE_INFINITY })
  return (
    <>
      <h3>Past messages</h3>
      <QueryView query={query} what="Running past messages dry">
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
      </QueryView>
    </>
  )
}

/** Of a table that was deleted, the version before that. */
const lastWithRows = (versions: readonly TableVersion[]): number =>
  versions.find(({ rows }) => rows !== undefined)?.version ?? 0
