/** `/groups/:key`: one group of failures: what its messages have in common, when they arrived, and what to do next. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { queries } from '../../api/queries.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import type { FailureGroup, GroupState } from '../../api/records/record-types.ts'
import { markGroup } from '../../api/records/replay-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { LazyLineChart } from '../../ui/charts/lazy-line-chart.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton } from '../../ui/controls/dialog.tsx'
import { PlanButton } from '../../ui/controls/plan-button.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { Fact, Facts } from '../../ui/data/facts.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { EndpointLink, MessageLink, OutcomeChip, StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { Answer, Page, QueryView, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const MINUTE_MS = 60_000
const MAX_MESSAGES = 20
const EVERY_MS = 30_000

const route = getRouteApi('/groups/$key')

export default function GroupPage() {
  const { key } = route.useParams()
  const group = useQuery({ ...queries.group(key), refetchInterval: EVERY_MS })
  const code = group.data?.code
  return (
    <Page
      title={code === undefined ? 'Group of failures' : `Failures: ${code}`}
      above={<Link to="/groups">← All failures</Link>}
      actions={group.data && <Actions group={group.data} />}
    >
      <QueryView query={group} what="Loading the group">
        {(data) => (
          <>
            <GroupFacts group={data} />
            <Sample group={data} />
            <LastHour group={data} />
            <Messages group={data} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

function Actions({ group }: Readonly<{ group: FailureGroup }>) {
  const navigate = useNavigate()
  const refused = useRefusal('operator')
  const { endpointId, sampleId } = group
  const missing = endpointId === undefined ? 'No endpoint took these messages.' : undefined
  const debug = () =>
    void navigate({ to: '/endpoints/$id/edit', params: { id: endpointId ?? '' }, search: { message: sampleId } })
  useKey('d', 'Debug the newest message', (refused ?? missing) === undefined ? debug : undefined)
  return (
    <>
      <Button text="Debug newest" tone="primary" refused={refused ?? missing} keys="d" onPress={debug} />
      {/* Messages that no endpoint took cannot be replayed. */}
      {missing === undefined && <PlanButton filters={{ group: group.key }}>Replay group …</PlanButton>}
      <GroupActions group={group} />
    </>
  )
}

function GroupFacts({ group }: Readonly<{ group: FailureGroup }>) {
  const { key, endpoint, endpointId, stage, path, count, firstSeen, lastSeen } = group
  const left = useQuery({ ...queries.groups({ group: key, replayed: 'false' }), refetchInterval: EVERY_MS })
  return (
    <Facts>
      <Fact name="State" value={<GroupMark group={group} />} />
      <Fact name="Messages">
        <TextLink to="/messages" search={{ group: key }} text={count.toLocaleString('en')} />
        {left.data === undefined ? null : (
          <>
            {', of them '}
            <Link to="/messages" search={{ group: key, replayed: 'false' }}>
              {(left.data.groups[0]?.count ?? 0).toLocaleString('en')} not fixed yet
            </Link>
          </>
        )}
      </Fact>
      <Fact name="Seen">
        <Time at={firstSeen} exact /> to <Time at={lastSeen} exact />
      </Fact>
      <Fact name="Endpoint">
        {endpointId === undefined ? (
          <span className="quiet">no endpoint accepted them</span>
        ) : (
          <EndpointLink id={endpointId} name={endpoint} />
        )}
      </Fact>
      <Fact name="Where">
        {stage ?? <span className="quiet">before the first stage</span>}
        {path === undefined ? null : (
          <>
            , at <VisibleText code text={path} max={300} />
          </>
        )}
      </Fact>
    </Facts>
  )
}

/** The sentence of the newest failure represents the group. */
function Sample({ group: { sampleId } }: Readonly<{ group: FailureGroup }>) {
  const { data } = useQuery(queries.message(sampleId))
  if (data?.error === undefined) return null
  return (
    <div className="failure">
      <VisibleText as="p" className="failure-sentence" text={data.error} />
      <p>
        <MessageLink id={sampleId}>The newest message</MessageLink>
      </p>
    </div>
  )
}

function LastHour({ group: { key, minutes } }: Readonly<{ group: FailureGroup }>) {
  const list = useQuery({ ...queries.groups({ group: key }), refetchInterval: EVERY_MS })
  const from = list.data?.minutesFrom
  const shown = list.data?.groups[0]?.minutes ?? minutes
  const times = useMemo(() => shown.map((_, index) => Date.parse(from ?? '') + index * MINUTE_MS), [shown, from])
  const series = useMemo(
    () => [{ name: 'Messages', tone: 'bad', values: shown, isCount: true, messages: { group: key } } as const],
    [shown, key],
  )
  if (from === undefined) return null
  return <LazyLineChart title="Messages by minute, last hour" times={times} series={series} format={wholeNumber} />
}

const Messages = ({ group: { key } }: Readonly<{ group: FailureGroup }>) => (
  <Section title="Newest messages">
    <Answer of={queries.messages({ group: key }, MAX_MESSAGES)} what="Loading messages">
      {({ messages, next }) => (
        <>
          <ul className="bullets">
            {messages.map(({ id, startedAt, outcome, error = '' }) => (
              <li key={id}>
                <Link to="/messages/$id" params={{ id }} search={{ group: key }}>
                  <Time at={startedAt} exact />
                </Link>{' '}
                <OutcomeChip outcome={outcome} /> <VisibleText text={error} max={200} />
              </li>
            ))}
          </ul>
          {next !== undefined && <TextLink to="/messages" search={{ group: key }} text="All messages of the group" />}
        </>
      )}
    </Answer>
  </Section>
)

const TONES: Readonly<Record<GroupState, Tone>> = { open: 'bad', acknowledged: 'busy', ignored: 'quiet' }
const MAX_NOTE_CHARACTERS = 2_000

export const GroupMark = ({ group: { state, note, by, at, since } }: Readonly<{ group: FailureGroup }>) => (
  <div className="row">
    <StatusChip tone={TONES[state]}>{state}</StatusChip>
    {by !== undefined && (
      <span className="quiet">
        by <VisibleText text={by} max={100} /> <Time at={at} />
      </span>
    )}
    {since !== undefined && since > 0 && <StatusChip tone="warn">{since.toLocaleString('en')} since then</StatusChip>}
    {note !== undefined && <VisibleText as="p" className="breaks" text={note} />}
  </div>
)

const ACTIONS = [
  {
    state: 'acknowledged',
    text: 'Acknowledge …',
    title: 'Acknowledge the group',
    confirm: 'Acknowledge',
    means: 'You, or somebody whom the note names, works on it. Everybody sees that.',
  },
  {
    state: 'ignored',
    text: 'Ignore …',
    title: 'Ignore the group',
    confirm: 'Ignore',
    means: 'No work is needed. The group keeps this state when more messages join it, and counts them.',
  },
  {
    state: 'open',
    text: 'Open again …',
    title: 'Open the group again',
    confirm: 'Open again',
    means: 'No one works on it.',
  },
] as const

function GroupActions({ group }: Readonly<{ group: FailureGroup }>) {
  const refused = useRefusal('operator')
  return ACTIONS.filter(({ state }) => state !== group.state).map(({ state, means, ...button }) => (
    <ConfirmButton
      key={state}
      {...button}
      refused={refused}
      field={{
        label: 'Note',
        initial: group.note ?? '',
        rows: 3,
        hint: 'For example what is done, and the number of the ticket.',
        explainRefusal: ({ length }) =>
          length > MAX_NOTE_CHARACTERS ? `A note has at most ${MAX_NOTE_CHARACTERS} characters.` : undefined,
      }}
      onConfirm={async (note) => {
        await markGroup(group.key, state, note.trim())
        await reload(queryParts.groups)
      }}
    >
      <p>{means}</p>
    </ConfirmButton>
  ))
}
