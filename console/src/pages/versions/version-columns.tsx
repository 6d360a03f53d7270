/** The columns of the list of versions. */
import { Link } from '@tanstack/react-router'
import type { Version } from '../../api/changes/version-calls.ts'
import { Button } from '../../ui/controls/button.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const METHODS: Readonly<Record<string, string>> = {
  create: 'created',
  replace: 'replaced',
  patch: 'changed in part',
  restore: 'restored',
  delete: 'deleted',
}

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
      id: 'version',
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
    { id: 'at', title: 'When', render: ({ at }) => <Time at={at} /> },
    {
      id: 'what',
      title: 'What',
      render: ({ method, restored }) =>
        `${METHODS[method] ?? method}${restored === undefined ? '' : ` from ${restored}`}`,
    },
    {
      id: 'who',
      title: 'Who',
      render: ({ origin: { name, who, address } }) => <VisibleText text={name ?? who ?? address ?? '–'} max={100} />,
    },
    {
      id: 'note',
      title: 'Note',
      render: ({ origin: { note, testsOverride } }) => (
        <>
          {note === undefined ? <span className="quiet">–</span> : <VisibleText text={note} />}
          {testsOverride !== undefined && (
            <div className="quiet">
              Although tests failed: <VisibleText text={testsOverride} />
            </div>
          )}
        </>
      ),
    },
    {
      id: 'restore',
      title: 'Restore',
      render: (version) => (
        <Button
          label={`Restore version ${version.version}`}
          refused={explainRefusal(version)}
          onPress={() => onRestore(version.version)}
        >
          Restore …
        </Button>
      ),
    },
  ]
}
