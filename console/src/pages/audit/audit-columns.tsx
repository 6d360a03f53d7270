/** The columns of the audit log. */
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { Time } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

type AuditEntry = Schemas['AuditEntry']

export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    title: 'What',
    isName: true,
    render: ({ what, omitted }) => (
      <>
        <Link to="/audit" search={{ what: [what] }} data-row>
          <VisibleText code text={what} max={200} />
        </Link>
        {omitted !== undefined && omitted > 0 && (
          <div className="quiet">{omitted.toLocaleString('en')} refused calls before it were not written</div>
        )}
      </>
    ),
  },
  { title: 'When', render: ({ at }) => <Time at={at} exact /> },
  {
    title: 'Who',
    render: ({ who, name, address }) => (
      <>
        <Link to="/audit" search={{ who: [who] }}>
          <VisibleText text={name ?? who} max={100} />
        </Link>
        <div className="quiet">
          {name === undefined ? null : <VisibleText text={`${who} `} max={100} />}
          {address}
        </div>
      </>
    ),
  },
  { title: 'Target', render: (entry) => <Target {...entry} /> },
  { title: 'Note', render: ({ note }) => <VisibleText text={note} /> },
  {
    title: 'Answer',
    render: ({ status, code }) => (
      <>
        <StatusChip tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</StatusChip>
        {code === undefined ? null : <code className="block">{code}</code>}
      </>
    ),
  },
]

/** Of a change of an endpoint: what it changed. */
function Target({ target, what, before, after }: AuditEntry) {
  if (target === undefined) return <span className="quiet">–</span>
  const id = <VisibleText code text={target} max={60} />
  const isEndpoint = /^[A-Z]+ \/endpoints/.test(what) && /^[0-9a-f]{24}$/.test(target)
  if (!isEndpoint) return id
  const isComparable = before !== undefined && after !== undefined && before > 0
  return (
    <>
      <Link
        to="/endpoints/$id/versions"
        params={{ id: target }}
        search={isComparable ? { from: before, to: after } : {}}
      >
        {id}
      </Link>
      {after === undefined ? null : (
        <div className="quiet">
          version {before === undefined || before === 0 ? '' : `${before} → `}
          {after}
        </div>
      )}
    </>
  )
}
