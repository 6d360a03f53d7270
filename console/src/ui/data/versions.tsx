/** What the lists of versions have in common: when, what, who, and why. */
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { DialogButton } from '../controls/dialog.tsx'
import { SelectField } from '../controls/fields.tsx'
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
  dialog: (version: number, close: () => void) => ReactNode,
): Column<Listed> => ({
  title: 'Restore',
  render: (version) => (
    <DialogButton
      text="Restore …"
      label={`Restore version ${version.version}`}
      refused={explainRefusal(version)}
      dialog={(close) => dialog(version.version, close)}
    />
  ),
})

type VersionRangeProps = Readonly<{
  /** Of the heading. */
  id: string
  from: number
  to: number
  choices: readonly Readonly<{ value: string; label: string }>[]
  onChange(changes: Readonly<{ from?: number; to?: number }>): void
}>

export function VersionRange({ id, from, to, choices, onChange }: VersionRangeProps) {
  return (
    <>
      <h2 id={id}>
        What differs from version {from} to version {to}
      </h2>
      <div className="filter-bar row">
        <SelectField
          label="From"
          value={String(from)}
          choices={choices}
          onChange={(value) => onChange({ from: Number(value) })}
        />
        <SelectField
          label="To"
          value={String(to)}
          choices={choices}
          onChange={(value) => onChange({ to: Number(value) })}
        />
      </div>
    </>
  )
}

/**
 * The two that are compared: those of the URL, else the newest with the one before; undefined if there are none. In: the
 * versions that have something to compare, the newest first.
 */
export function comparedVersions(versions: readonly number[], from: number | undefined, to: number | undefined) {
  const known = (version: number | undefined) => versions.find((one) => one === version)
  const after = known(to) ?? versions[0]
  const before = known(from) ?? versions.find((version) => after !== undefined && version < after) ?? versions[1]
  return after === undefined || before === undefined ? undefined : { from: before, to: after }
}
