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
