/** The heading of a comparison of two versions, and the choice of them. */
import { SelectField } from '../controls/fields.tsx'

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
