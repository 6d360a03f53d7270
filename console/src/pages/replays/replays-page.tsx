/** `/replays`: the plans of replays, newest first. */
import { Link } from '@tanstack/react-router'
import { get } from '../../api/client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import type { ReplayPlan } from '../../api/records/record-types.ts'
import { type Column, RowList, useRowPages } from '../../ui/data/data-table.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Empty, Page } from '../../ui/states/states.tsx'
import { PlanFilter, PlanProgress, PlanState } from './plan-page.tsx'

const COLUMNS: readonly Column<ReplayPlan>[] = [
  {
    title: 'Planned',
    isName: true,
    render: ({ id, createdAt }) => (
      <Link to="/replays/$plan" params={{ plan: id }} data-row className="row-link">
        <Time at={createdAt} />
        <span className="visually-hidden">, plan {id}</span>
      </Link>
    ),
  },
  { title: 'State', render: (plan) => <PlanState plan={plan} /> },
  { title: 'Messages', render: (plan) => <PlanFilter plan={plan} /> },
  { title: 'Progress', render: (plan) => <PlanProgress plan={plan} /> },
]

export default function ReplaysPage() {
  const pages = useRowPages<ReplayPlan>({
    queryKey: queryKeys.replayRows,
    readPage: async (_cursor, signal) => ({ rows: (await get('/messages/replay', {}, signal)).plans }),
  })
  return (
    <Page title="Replays">
      <RowList
        label="Plans of replays"
        columns={COLUMNS}
        pages={pages}
        getRowId={({ id }) => id}
        of="all"
        empty={
          <Empty title="There are no plans yet" action={<Link to="/groups">To the failures</Link>}>
            A plan runs failed messages again, through their endpoints as they are now. Plan one from a group of
            failures or from a search of messages; it says what will run before anything does.
          </Empty>
        }
      />
    </Page>
  )
}
