/** Drift: what recent messages carry and nothing reads, and what is read and no recent message carries. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { Time } from '../../ui/data/time.tsx'
import { Section } from '../../ui/states/section.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

/** At most one message a second is examined. */
const EVERY_MS = 30_000

type Drift = Schemas['Drift']

export function DriftPanel({ id }: Readonly<{ id: string }>) {
  const query = useQuery({ ...queries.endpointDrift(id), refetchInterval: EVERY_MS })
  return (
    <Section title="Drift of the messages" ground="panel">
      <QueryView query={query} what="Loading the drift">
        {(drift) => (
          <>
            <Sampled {...drift} />
            {drift.sampled > 0 && <Fields id={id} drift={drift} />}
          </>
        )}
      </QueryView>
    </Section>
  )
}

function Sampled({ sample, sampled, cut, since, version }: Drift) {
  if (sample === 0) return <p className="quiet">No messages are examined: DRIFT_SAMPLE is 0.</p>
  if (sampled === 0) return <p className="quiet">No message of this version has been examined in the last 24 hours.</p>
  const messages = sampled === 1 ? '1 message' : `${sampled.toLocaleString('en')} messages`
  return (
    <p className="quiet">
      {messages} of version {version} examined in the last 24 hours, the first <Time at={since} />
      {cut > 0 && `; ${cut.toLocaleString('en')} of them were too large to be examined in whole`}. Names and types only,
      no values.
    </p>
  )
}

function Fields({ id, drift }: Readonly<{ id: string; drift: Drift }>) {
  const { unread, unreadUnknown, unreadCut, missing, missingNotShown = 0, sampled } = drift
  return (
    <>
      <h3>Present, but read by nothing</h3>
      {unreadUnknown !== undefined ? (
        <p className="quiet">
          <VisibleText text={unreadUnknown} />
        </p>
      ) : (
        <Listed of={unread.length} none="Every field that arrived is read.">
          <DataTable
            label="Fields that nothing reads"
            columns={unreadColumns(sampled)}
            rows={unread}
            getRowId={getPath}
          />
          {unreadCut === true && <p className="quiet">There are more fields than are kept.</p>}
        </Listed>
      )}
      <h3>Read, but present in no examined message</h3>
      <Listed of={missing.length} none="Every field that is read arrived.">
        <DataTable label="Fields that were missing" columns={missingColumns(id)} rows={missing} getRowId={getPath} />
        {missingNotShown > 0 && <p className="quiet">… and {missingNotShown.toLocaleString('en')} more.</p>}
      </Listed>
    </>
  )
}

const Listed = ({ of, none, children }: Readonly<{ of: number; none: string; children: ReactNode }>) =>
  of === 0 ? <p className="quiet">{none}</p> : children

const getPath = ({ path }: Readonly<{ path: string }>): string => path

const unreadColumns = (sampled: number): readonly Column<Drift['unread'][number]>[] => [
  { title: 'Field', isName: true, render: ({ path }) => <VisibleText code text={path} max={300} /> },
  { title: 'Types', render: ({ types }) => types.join(', ') },
  {
    title: 'Seen in',
    align: 'end',
    render: ({ seen }) => `${seen.toLocaleString('en')} of ${sampled.toLocaleString('en')}`,
  },
]

const missingColumns = (id: string): readonly Column<Drift['missing'][number]>[] => [
  { title: 'Field', isName: true, render: ({ path }) => <VisibleText code text={path} max={300} /> },
  {
    title: 'Read by',
    render: ({ readBy }) => (
      <ul className="stack">
        {readBy.map((location) => (
          <li key={location}>
            <Link to="/endpoints/$id/edit" params={{ id }} search={{ path: location }}>
              <VisibleText code text={location} max={300} />
            </Link>
          </li>
        ))}
      </ul>
    ),
  },
  { title: 'Last seen', render: ({ lastSeen }) => (lastSeen === undefined ? 'never' : <Time at={lastSeen} />) },
]
