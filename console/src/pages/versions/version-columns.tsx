/** The columns of the list of versions. */
import { Link } from '@tanstack/react-router'
import type { Version } from '../../api/changes/version-calls.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { restoreColumn, VERSION_COLUMNS } from '../../ui/data/version-columns.tsx'

export type VersionColumnsOptions = Readonly<{
  id: string
  versions: readonly Version[]
  /** Why the user may not restore. */
  refused: string | undefined
  onRestore(version: number): void
}>

export function versionColumns({
  id,
  versions,
  refused,
  onRestore,
}: VersionColumnsOptions): readonly Column<Version>[] {
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
