/** `/replays/:plan`: what a plan will run, what it cannot and why, and how far it got. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import type { MessageFilters, ReplayPlan } from '../../api/records/record-types.ts'
import { PlanButton } from '../../ui/controls/plan-button.tsx'
import { EndpointLink, MessageLink } from '../../ui/data/links.tsx'
import { OutcomeChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Section } from '../../ui/states/section.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { PlanControls } from './plan-controls.tsx'
import { PlanFilter } from './plan-filter.tsx'
import { PlanProgress, PlanState } from './plan-progress.tsx'
import './replays.css'

/** Beside the events: a plan that runs is looked at while no stream is open, too. */
const EVERY_MS = 2_000

const route = getRouteApi('/replays/$plan')

export function PlanPage() {
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
            <Canaries plan={plan} />
            <Failures plan={plan} />
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

function Canaries({ plan: { canaries } }: Readonly<{ plan: ReplayPlan }>) {
  if (canaries === undefined || canaries.length === 0) return null
  return (
    <Section title="First of the run">
      <Replays replays={canaries} />
    </Section>
  )
}

function Failures({ plan: { failures, failed, state } }: Readonly<{ plan: ReplayPlan }>) {
  if (failures.length === 0) return null
  return (
    <Section title="What failed again">
      <Replays replays={failures} />
      <p>
        {failed > failures.length && `The newest ${failures.length} of ${failed.toLocaleString('en')} are shown. `}
        {isOver(state) ? null : (
          <Link to="/groups" search={{ source: ['replay'] }}>
            Failed replays by cause
          </Link>
        )}
      </p>
    </Section>
  )
}

function Replays({ replays }: Readonly<{ replays: ReplayPlan['failures'] }>) {
  return (
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

type CannotProps = Readonly<{ title: string; reasons: ReplayPlan['cannot'] }>

function Cannot({ title, reasons }: CannotProps) {
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
