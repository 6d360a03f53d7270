/** What the lists of versions have in common: when, what, who, and why. */
import type { Schemas } from '../../api/client.ts'
import { Button } from '../controls/button.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import type { Column } from './data-table.tsx'
import { Time } from './time.tsx'

type ListedVersion = Readonly<{
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

export const VERSION_COLUMNS: readonly Column<ListedVersion>[] = [
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

/** `explainRefusal`: why the version cannot be restored, or the user may not. */
export const restoreColumn = <Listed extends Readonly<{ version: number }>>(
  explainRefusal: (version: Listed) => string | undefined,
  onRestore: (version: number) => void,
): Column<Listed> => ({
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
})
