/** The columns of the list of groups. */

import { Link } from '@tanstack/react-router'
import type { FailureGroup } from '../../api/records/record-types.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { GroupMark } from './group-state.tsx'
import { MinutesBars } from './minutes-bars.tsx'

export const GROUP_COLUMNS: readonly Column<FailureGroup>[] = [
  {
    title: 'Failure',
    isName: true,
    render: ({ key, code, stage, path }) => (
      <>
        <Link to="/groups/$key" params={{ key }} data-row className="row-link">
          <code>{code ?? 'no code'}</code>
        </Link>
        <div className="quiet breaks">
          {stage === undefined ? 'before the first stage' : `in ${stage}`}
          {path === undefined ? null : (
            <>
              , at <VisibleText code text={path} max={160} />
            </>
          )}
        </div>
      </>
    ),
  },
  {
    title: 'Endpoint',
    render: ({ endpoint, endpointId }) =>
      endpoint === undefined ? (
        <span className="quiet">{endpointId ?? 'no endpoint accepted them'}</span>
      ) : (
        <VisibleText text={endpoint} max={120} />
      ),
  },
  { title: 'Messages', align: 'end', render: ({ count }) => count.toLocaleString('en') },
  { title: 'Last hour', render: ({ minutes }) => <MinutesBars minutes={minutes} /> },
  { title: 'Newest', render: ({ lastSeen }) => <Time at={lastSeen} /> },
  { title: 'State', render: (group) => <GroupMark group={group} /> },
]
