/** The versions of an endpoint or a table: the list of them, two that are compared, and going back to one. */

import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useRefusal } from '../../api/session.ts'
import { DialogButton } from '../controls/dialog.tsx'
import { SelectField } from '../controls/fields.tsx'
import { TextLink } from '../controls/text-link.tsx'
import { Empty } from '../states/states.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { Time } from './time.tsx'

type ListedVersion = Readonly<{
  version: number
  at: string
  method: string
  restored?: number | undefined
  origin: Schemas['Version']['origin']
}>

const METHODS: Readonly<Record<string, string>> = {
  create: 'created',
  replace: 'replaced',
  patch: 'changed in part',
  restore: 'restored',
  delete: 'deleted',
}

const VERSION_COLUMNS: readonly Column<ListedVersion>[] = [
  { title: 'When', render: ({ at }) => <Time at={at} /> },
  {
    title: 'What',
    render: ({ method, restored }) =>
      `${METHODS[method] ?? method}${restored === undefined ? '' : ` from ${restored}`}`,
  },
  {
    title: 'Who',
    render: ({ origin: { name, who, address } }) => <VisibleText text={name ?? who ?? address ?? '–'} max={100} />,
  },
  {
    title: 'Note',
    render: ({ origin: { note, testsOverride } }) => (
      <>
        {<VisibleText text={note} />}
        {testsOverride !== undefined && (
          <div className="quiet">
            Although tests failed: <VisibleText text={testsOverride} />
          </div>
        )}
      </>
    ),
  },
]

type VersionsViewProps<Listed> = Readonly<{
  /** Newest first. */
  versions: readonly Listed[]
  /** What a version has that is no deletion. */
  content: 'document' | 'rows'
  hasContent(version: Listed): boolean
  /** Columns that other lists of versions do not have. */
  more?: readonly Column<Listed>[]
  /** The versions of the URL that are compared. */
  search: Readonly<{ from?: number | undefined; to?: number | undefined }>
  restoreDialog(version: number, close: () => void): ReactNode
  /** What differs. */
  children(from: number, to: number): ReactNode
}>

/** Who changed what, any two versions, and going back. The two are those of the URL, else the newest with the one before. */
export function VersionsView<Listed extends ListedVersion>(props: VersionsViewProps<Listed>) {
  const { versions, content, hasContent, more = [], search, restoreDialog, children } = props
  const refused = useRefusal('author')
  const navigate = useNavigate()
  const compare = (changes: Readonly<{ from?: number; to?: number }>) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false })
  const comparable = versions.filter(hasContent)
  const known = (version: number | undefined) => comparable.find((one) => one.version === version)?.version
  const olderThan = (version = 0) => comparable.find((one) => one.version < version)?.version
  const to = known(search.to) ?? comparable[0]?.version
  const from = known(search.from) ?? olderThan(to) ?? comparable[1]?.version
  const choices = comparable.map(({ version, origin: { note } }) => ({
    value: String(version),
    label: note === undefined ? `Version ${version}` : `Version ${version} – ${note.slice(0, 60)}`,
  }))
  const explainRefusal = (one: Listed) => {
    if (!hasContent(one)) return `This version is a deletion: it has no ${content}.`
    return one === versions[0] ? 'This is the current version.' : refused
  }
  const columns: readonly Column<Listed>[] = [
    {
      title: 'Version',
      isName: true,
      render: (one) => {
        const before = hasContent(one) ? olderThan(one.version) : undefined
        const name = `Version ${one.version}`
        if (before === undefined)
          return (
            <span data-row tabIndex={-1}>
              {name}
            </span>
          )
        return <TextLink to="." search={{ from: before, to: one.version }} resetScroll={false} data-row text={name} />
      },
    },
    ...VERSION_COLUMNS,
    ...more,
    {
      title: 'Restore',
      render: (one) => (
        <DialogButton
          text="Restore …"
          label={`Restore version ${one.version}`}
          refused={explainRefusal(one)}
          dialog={(close) => restoreDialog(one.version, close)}
        />
      ),
    },
  ]
  return (
    <>
      <DataTable
        label="Versions"
        columns={columns}
        rows={versions}
        getRowId={({ version }) => String(version)}
        isCurrent={({ version }) => version === to}
      />
      {from === undefined || to === undefined ? (
        <Empty title={`There is one version${versions.length > 1 ? ` with ${content}` : ''}`}>
          The next change adds a second one, and this page shows what differs.
        </Empty>
      ) : (
        <section className="panel" aria-labelledby="comparison">
          <h2 id="comparison">
            What differs from version {from} to version {to}
          </h2>
          <div className="filter-bar row">
            <SelectField
              label="From"
              value={String(from)}
              choices={choices}
              onChange={(value) => compare({ from: Number(value) })}
            />
            <SelectField
              label="To"
              value={String(to)}
              choices={choices}
              onChange={(value) => compare({ to: Number(value) })}
            />
          </div>
          {children(from, to)}
        </section>
      )}
    </>
  )
}
