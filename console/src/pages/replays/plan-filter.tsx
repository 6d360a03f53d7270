/** Which messages a plan is for, in a line. */

import { Link } from '@tanstack/react-router'
import { FIRST_SOURCES, SOURCE_WORDS } from '../../../../src/core/origin.ts'
import type { ReplayPlan } from '../../api/records/record-types.ts'
import { LabelChip } from '../../ui/data/status-chip.tsx'

const MAX_VALUES = 3
/** What every plan has unless somebody says otherwise. */
const USUAL: Readonly<Record<string, string>> = {
  outcome: JSON.stringify(['refused', 'failed']),
  source: JSON.stringify(FIRST_SOURCES),
}

export function PlanFilter({ plan: { filter } }: Readonly<{ plan: ReplayPlan }>) {
  const parts = Object.entries(filter).filter(([name, value]) => USUAL[name] !== JSON.stringify(value))
  if (parts.length === 0) return <span className="quiet">all that failed</span>
  return (
    <span className="row">
      {parts.map(([name, value]) =>
        name === 'group' ? (
          <Link key={name} to="/groups/$key" params={{ key: [value].flat().map(String)[0] ?? '' }}>
            one group of failures
          </Link>
        ) : (
          <LabelChip key={name} name={name} value={formatValues(name, value)} />
        ),
      )}
    </span>
  )
}

function formatValues(name: string, value: unknown): string {
  const values = [value].flat().map((one) => (name === 'source' ? shownSource(one) : String(one)))
  const shown = values.slice(0, MAX_VALUES).join(', ')
  return values.length > MAX_VALUES ? `${shown} and ${values.length - MAX_VALUES} more` : shown
}

/** A plan may name a source that this version does not know. */
const shownSource = (source: unknown): string =>
  (SOURCE_WORDS as Readonly<Record<string, { shown: string }>>)[String(source)]?.shown ?? String(source)
