/** `/messages`: recorded messages, found by the service; beside them the one that is open (`/messages/:id`). */
import { getRouteApi, Outlet, useMatch, useNavigate } from '@tanstack/react-router'
import { listMessages } from '../../api/records/message-calls.ts'
import type { MessageFilters } from '../../api/records/record-types.ts'
import { useRefusal } from '../../api/session.ts'
import { PlanButton, TaskButton } from '../../ui/controls/plan-button.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Page } from '../../ui/states/states.tsx'
import { MessageFilterBar } from './message-filters.tsx'
import { MessageList } from './message-list.tsx'
import { type MessagesSearch, soundSearch, toFilters } from './messages-search.ts'
import './messages.css'

const route = getRouteApi('/messages')

export default function MessagesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const open = useMatch({ from: '/messages/$id', shouldThrow: false, select: ({ params }) => params.id })
  const filters = toFilters(search)
  const change = (changes: Partial<MessagesSearch>) =>
    void navigate({
      to: '.',
      search: (before) => soundSearch({ ...before, ...changes }),
      replace: true,
      resetScroll: false,
    })
  return (
    <Page
      title="Messages"
      actions={
        <>
          <DeriveButton filters={filters} />
          <PlanButton filters={withoutSource(filters)}>Plan a replay of these</PlanButton>
        </>
      }
    >
      <div className={open === undefined ? 'messages' : 'messages with-detail'}>
        <MessageFilterBar search={search} onChange={change} />
        <MessageList
          filters={filters}
          current={open}
          isLive={search.live === 'on'}
          onLive={(isLive) => change({ live: isLive ? 'on' : undefined })}
        />
        <Outlet />
      </div>
    </Page>
  )
}

/** Enough to derive a document from; the URL has them. */
const MAX_EXAMPLES = 20

/** The newest messages that were done are the pairs of a document. */
function DeriveButton({ filters }: Readonly<{ filters: MessageFilters }>) {
  const navigate = useNavigate()
  const [author, operator] = [useRefusal('author'), useRefusal('operator')]
  const run = async () => {
    const { messages } = await listMessages({ ...filters, outcome: ['done'] }, { limit: MAX_EXAMPLES })
    if (messages.length === 0) return notify('None of these messages was done, so none shows what it becomes.', 'warn')
    const own = messages.filter(({ endpointId }) => endpointId === messages[0]?.endpointId)
    const others = messages.length - own.length
    if (others > 0) notify(`A document is for one endpoint: of the newest messages, ${others} of others are left out.`)
    await navigate({ to: '/endpoints/by-example', search: { message: own.map(({ id }) => id) } })
  }
  return (
    <TaskButton refused={author ?? operator} run={run}>
      Derive a document from these
    </TaskButton>
  )
}

/** Replays aren't part of a plan; the messages that they repeat are. */
const withoutSource = ({ source, ...filters }: ReturnType<typeof toFilters>) =>
  [source].flat().includes('replay') ? filters : { ...filters, ...(source !== undefined && { source }) }
