/** The columns of the list of deliveries. */
import { Link } from '@tanstack/react-router'
import type { ListedDelivery } from '../../api/records/delivery-calls.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { AttemptResult, DeliveryChip } from './delivery-parts.tsx'

export const DELIVERY_COLUMNS: readonly Column<ListedDelivery>[] = [
  {
    title: 'Target',
    isName: true,
    render: ({ id, target, request }) => (
      <>
        <Link to="/deliveries/$id" params={{ id }} data-row className="row-link breaks">
          <VisibleText text={target} max={160} />
          <span className="visually-hidden">, delivery {id}</span>
        </Link>
        <div className="quiet">
          request <VisibleText text={request} max={120} />
        </div>
      </>
    ),
  },
  { title: 'State', render: ({ state }) => <DeliveryChip state={state} /> },
  { title: 'Endpoint', render: ({ endpoint }) => <VisibleText text={endpoint} max={120} /> },
  {
    title: 'Key',
    meaning: 'Deliveries with the same key arrive in order.',
    render: ({ key }) => <VisibleText text={key} max={80} />,
  },
  { title: 'Accepted', render: ({ acceptedAt }) => <Time at={acceptedAt} /> },
  { title: 'Attempts', align: 'end', render: ({ attempts }) => attempts.toLocaleString('en') },
  {
    title: 'Last attempt',
    render: ({ lastAttempt }) =>
      lastAttempt === undefined ? <span className="quiet">–</span> : <AttemptResult attempt={lastAttempt} />,
  },
]
