/** `/messages`: recorded messages, found by the service; beside them the one that is open (`/messages/:id`). */
import { getRouteApi, Outlet, useMatch } from '@tanstack/react-router'
import { PlanButton } from '../../ui/controls/plan-button.tsx'
import { Page } from '../../ui/states/page.tsx'
import { MessageFilterBar } from './message-filters.tsx'
import { MessageList } from './message-list.tsx'
import { soundSearch, toFilters } from './messages-search.ts'
import './messages.css'

const route = getRouteApi('/messages')

export function MessagesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const open = useMatch({ from: '/messages/$id', shouldThrow: false, select: ({ params }) => params.id })
  const filters = toFilters(search)
  return (
    <Page title="Messages" actions={<PlanButton filters={withoutSource(filters)}>Plan a replay of these</PlanButton>}>
      <div className={open === undefined ? 'messages' : 'messages with-detail'}>
        <MessageFilterBar
          search={search}
          onChange={(changes) =>
            void navigate({
              to: '.',
              search: (before) => soundSearch({ ...before, ...changes }),
              replace: true,
              resetScroll: false,
            })
          }
        />
        <MessageList filters={filters} current={open} />
        <Outlet />
      </div>
    </Page>
  )
}

/** Replays aren't part of a plan; the messages that they repeat are. */
const withoutSource = ({ source, ...filters }: ReturnType<typeof toFilters>) =>
  [source].flat().includes('replay') ? filters : { ...filters, ...(source !== undefined && { source }) }
