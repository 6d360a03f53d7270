/** What the list and the page of one plan share: its state, how far it got, and which messages it is for. */
import { Link } from '@tanstack/react-router'
import { FIRST_SOURCES, SOURCE_WORDS } from '../../../../src/core/origin.ts'
import type { ReplayPlan } from '../../api/records/record-types.ts'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { LabelChip, StatusChip, type Tone } from '../../ui/data/status-chip.tsx'

const STATES: Readonly<Record<ReplayPlan['state'], readonly [Tone, string]>> = {
  planned: ['quiet', 'planned: nothing has run'],
  running: ['busy', 'running'],
  waiting: ['warn', 'waiting: look at the first messages'],
  paused: ['quiet', 'paused'],
  finished: ['good', 'finished'],
  cancelled: ['quiet', 'cancelled'],
}

export function PlanState({ plan: { state, failed } }: Readonly<{ plan: ReplayPlan }>) {
  const [tone, text] = STATES[state]
  return <StatusChip tone={state === 'finished' && failed > 0 ? 'warn' : tone}>{text}</StatusChip>
}

export function PlanProgress({ plan: { count, done, failed, skipped, left } }: Readonly<{ plan: ReplayPlan }>) {
  const parts = [
    ['done', done, 'var(--good)'],
    ['failed', failed, 'var(--bad)'],
    ['skipped', skipped, 'var(--edge)'],
  ] as const
  const widths = parts.map(([, value]) => (count === 0 ? 0 : (100 * value) / count))
  return (
    <div className="plan-progress">
      <svg width="100%" height="12" aria-hidden="true">
        <rect width="100%" height="12" rx="3" fill="var(--line)" />
        {parts.map(([name, , fill], index) => (
          <rect
            key={name}
            fill={fill}
            x={`${widths.slice(0, index).reduce((sum, width) => sum + width, 0)}%`}
            width={`${widths[index]}%`}
            height="12"
          />
        ))}
      </svg>
      <p role="status">
        {wholeNumber(done)} done, {wholeNumber(failed)} failed again{skipped > 0 && `, ${wholeNumber(skipped)} skipped`}
        , {wholeNumber(left)} left of {wholeNumber(count)}
      </p>
    </div>
  )
}

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
