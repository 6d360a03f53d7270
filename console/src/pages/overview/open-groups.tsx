/** The largest groups of failures without a mark. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import { Time } from '../../ui/data/time.tsx'
import { Section } from '../../ui/states/section.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const SHOWN = 6
/** A replay by hand makes no event of a group. */
const EVERY_MS = 15_000
/** As /groups shows them first. */
const OPEN = { state: ['open'], replayed: 'false' } as const

export function OpenGroups() {
  const query = useQuery({ ...queries.groups(OPEN), refetchInterval: EVERY_MS })
  return (
    <Section title="Open failure groups" ground="panel">
      <QueryView query={query}>
        {({ groups }) =>
          groups.length === 0 ? (
            <p className="quiet">No recorded failures are open.</p>
          ) : (
            <>
              <ul className="rows stack">
                {groups.slice(0, SHOWN).map(({ key, endpoint, code, stage, path, count, lastSeen }) => (
                  <li key={key}>
                    <span className="row-number bad-text">{count.toLocaleString('en')}</span>
                    <span>
                      <Link to="/groups/$key" params={{ key }}>
                        <VisibleText text={endpoint ?? 'No endpoint'} max={100} />: {code ?? 'no code'}
                      </Link>
                      <span className="block quiet">
                        {stage ?? 'before the first stage'}
                        {path === undefined ? null : (
                          <>
                            {' '}
                            at <VisibleText code text={path} max={120} />
                          </>
                        )}
                        , last <Time at={lastSeen} />
                      </span>
                    </span>
                  </li>
                ))}
              </ul>
              <Link to="/groups">All groups ({groups.length.toLocaleString('en')})</Link>
            </>
          )
        }
      </QueryView>
    </Section>
  )
}
