/** `/replays/:plan`: what a plan will run, what it cannot and why, and how far it got. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { FIRST_SOURCES, SOURCE_WORDS } from '../../../../src/core/origin.ts'
import { queries } from '../../api/queries.ts'
import { queryClient, queryParts, reload } from '../../api/query-keys.ts'
import type { MessageFilters, ReplayPlan } from '../../api/records/record-types.ts'
import { changePlan, type PlanAction, runPlan } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import { Checkbox, TextField } from '../../ui/controls/fields.tsx'
import { PlanButton } from '../../ui/controls/plan-button.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { EndpointLink, LabelChip, MessageLink, OutcomeChip, StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { Page, QueryView, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { checkLimits, DEFAULT_LIMITS, toRunLimits } from './run-limits.ts'

/** Beside the events: a plan that runs is looked at while no stream is open, too. */
const EVERY_MS = 2_000

const route = getRouteApi('/replays/$plan')

export default function PlanPage() {
  const { plan: id } = route.useParams()
  const query = useQuery({
    ...queries.replay(id),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? EVERY_MS : false),
  })
  return (
    <Page title="Replay plan" above={<Link to="/replays">← All plans</Link>}>
      <QueryView query={query} what="Loading the plan">
        {(plan) => (
          <>
            <div className="row">
              <PlanState plan={plan} />
              <span>
                Planned <Time at={plan.createdAt} exact />, for
              </span>
              <PlanFilter plan={plan} />
              {plan.lookups && (
                <span>
                  {plan.lookups === 'again' ? 'with lookups asked again' : 'with recorded answers of lookups'}
                </span>
              )}
            </div>
            <PlanProgress plan={plan} />
            {plan.stoppedBy === undefined ? null : (
              <p className="bad-text" role="alert">
                The run stopped: <VisibleText text={plan.stoppedBy} />
              </p>
            )}
            <PlanControls plan={plan} />
            <Replays title="First of the run" replays={plan.canaries} />
            <Replays title="What failed again" replays={plan.failures}>
              <p>
                {plan.failed > plan.failures.length &&
                  `The newest ${plan.failures.length} of ${plan.failed.toLocaleString('en')} are shown. `}
                {!isOver(plan.state) && <FailedByCause />}
              </p>
            </Replays>
            <Groups plan={plan} />
            <Cannot title="What cannot run" reasons={plan.cannot} />
            <AskAgain plan={plan} />
            <Cannot title="What was skipped when it was its turn" reasons={plan.skippedFor} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

/** A plan that is over has its links above. */
const isOver = (state: ReplayPlan['state']): boolean => state === 'finished' || state === 'cancelled'

const FailedByCause = ({ className }: Readonly<{ className?: string }>) => (
  <TextLink className={className} to="/groups" search={{ source: ['replay'] }} text="Failed replays by cause" />
)

type ReplaysProps = Readonly<{ title: string; replays?: ReplayPlan['failures'] | undefined; children?: ReactNode }>

function Replays({ title, replays = [], children }: ReplaysProps) {
  if (replays.length === 0) return null
  return (
    <Section title={title}>
      <ul className="bullets">
        {replays.map(({ id, replayId, outcome, code }) => (
          <li key={replayId}>
            <OutcomeChip outcome={outcome} /> {code === undefined ? null : <code>{code}</code>}{' '}
            <MessageLink id={replayId}>The replay</MessageLink>
            {' of '}
            <MessageLink id={id}>
              the message <code>{id}</code>
            </MessageLink>
          </li>
        ))}
      </ul>
      {children}
    </Section>
  )
}

function Groups({ plan: { groups, state } }: Readonly<{ plan: ReplayPlan }>) {
  if (groups.length === 0) return null
  return (
    <Section title={isOver(state) ? 'What the messages were before' : 'What the plan runs'}>
      <ul className="bullets">
        {groups.map(({ endpointId, endpoint, outcome, code, path, count }) => (
          <li key={[endpointId, outcome, code, path].join(' ')}>
            <strong>{count.toLocaleString('en')}</strong> × <OutcomeChip outcome={outcome} />{' '}
            {code === undefined ? null : <code>{code}</code>}{' '}
            {endpointId === undefined ? null : <EndpointLink id={endpointId} name={endpoint} />}
            {path === undefined ? null : (
              <span className="quiet">
                {' at '}
                <VisibleText code text={path} max={200} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Messages without whole answers of their lookups run only if these are asked again. */
function AskAgain({ plan: { cannot, filter, lookups } }: Readonly<{ plan: ReplayPlan }>) {
  const count = cannot.reduce((sum, { reason, count }) => sum + (reason.startsWith('lookups-') ? count : 0), 0)
  if (count === 0 || lookups === 'again') return null
  return (
    <>
      <p>
        {count.toLocaleString('en')} of them can run if their lookups are asked again: the other systems may answer
        something else than then, which makes other messages.
      </p>
      <PlanButton filters={filter as MessageFilters} lookups="again">
        Plan again, with lookups asked again …
      </PlanButton>
    </>
  )
}

function Cannot({ title, reasons }: Readonly<{ title: string; reasons: ReplayPlan['cannot'] }>) {
  if (reasons.length === 0) return null
  return (
    <Section title={title}>
      <ul className="bullets">
        {reasons.map(({ reason, error, count, ids }) => (
          <li key={reason}>
            <strong>{count.toLocaleString('en')}</strong>: <VisibleText text={error} />{' '}
            <Link to="/messages" search={{ id: ids }}>
              {ids.length < count ? `${ids.length} of them` : 'Show'}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function PlanControls({ plan }: Readonly<{ plan: ReplayPlan }>) {
  const refused = useRefusal('operator')
  const { id, state, left, cannot } = plan
  const { mutate, mutateAsync, isPending, error } = useMutation({
    mutationFn: (act: () => Promise<ReplayPlan>) => act(),
    onSuccess: (after) => queryClient.setQueryData(queries.replay(id).queryKey, after),
    onSettled: () => reload(queryParts.replays),
  })
  if (isOver(state)) {
    return (
      <div className="row">
        {plan.failed > 0 && <FailedByCause className="button primary" />}
        <TextLink className="button" to="/groups" text="Failures that are left" />
      </div>
    )
  }
  const act = (action: PlanAction) => mutate(() => changePlan(id, action))
  const isRunnable = state === 'planned' || state === 'paused'
  return (
    <section className="panel" aria-label="Run">
      {isRunnable && left > 0 && <RunForm plan={plan} refused={refused} busy={isPending} onRun={mutate} />}
      {state === 'planned' && left === 0 && (
        <p>
          {cannot.length > 0
            ? 'No message of this plan can run: the reasons are below.'
            : 'The filter of this plan finds no message.'}
        </p>
      )}
      <div className="row">
        {state === 'waiting' && (
          <Button tone="primary" refused={refused} busy={isPending} onPress={() => act('continue')}>
            Run the rest ({left.toLocaleString('en')})
          </Button>
        )}
        {(state === 'running' || state === 'waiting') && (
          <Button text="Pause" refused={refused} busy={isPending} onPress={() => act('pause')} />
        )}
        <ConfirmButton
          text="Cancel the plan …"
          title="Cancel the plan"
          confirm="Cancel the plan"
          tone="danger"
          refused={refused}
          onConfirm={async () => void (await mutateAsync(() => changePlan(id, 'cancel')))}
        >
          Messages in flight are completed, and no further one starts. The plan cannot be run again; messages that are
          left stay as they are, and a new plan can take them.
        </ConfirmButton>
      </div>
      <FailureNotice failure={error} />
    </section>
  )
}

type RunFormProps = Readonly<{
  plan: ReplayPlan
  refused: string | undefined
  busy: boolean
  onRun(act: () => Promise<ReplayPlan>): void
}>

const LIMITS = [
  { name: 'max', label: 'At most', hint: 'messages; empty for all' },
  { name: 'concurrency', label: 'At once', hint: '1 keeps their order' },
  { name: 'perSecond', label: 'Per second', hint: 'empty for no limit' },
] as const

function RunForm({ plan: { id, left, state }, refused, busy, onRun }: RunFormProps) {
  const [form, setForm] = useState(DEFAULT_LIMITS)
  const faults = checkLimits(form)
  const off = refused ?? (Object.keys(faults).length > 0 ? 'A limit cannot have this value.' : undefined)
  const set = (changes: Partial<typeof form>) => setForm({ ...form, ...changes })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (off === undefined) onRun(() => runPlan(id, toRunLimits(form)))
      }}
    >
      <Checkbox checked={form.first} onChange={(first) => set({ first })}>
        One first, then the rest: the plan waits after the first message until you continue
      </Checkbox>
      <div className="columns">
        {LIMITS.map(({ name, label, hint }) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            value={form[name]}
            onChange={(value) => set({ [name]: value })}
            fault={faults[name]}
          />
        ))}
      </div>
      <div className="row">
        <Button type="submit" tone="primary" busy={busy} refused={off}>
          {form.first ? 'Run one first' : `${state === 'paused' ? 'Run on' : 'Run'} (${left.toLocaleString('en')})`}
        </Button>
      </div>
    </form>
  )
}

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
