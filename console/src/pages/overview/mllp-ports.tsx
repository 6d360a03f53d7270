/** The ports for MLLP that endpoints name: those that cannot be opened first. */

import type { Schemas } from '../../api/client.ts'
import { useHealth } from '../../api/health.ts'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { StatusChip, type Tone } from '../../ui/data/status-chip.tsx'
import { Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

type Port = Schemas['Health']['mllpPorts'][number]

const TONES: Readonly<Record<Port['state'], Tone>> = { failed: 'bad', opening: 'busy', open: 'good' }
const WORST_FIRST = Object.keys(TONES)

const SHOWN = 20

/** Nothing without ports: most services have none. */
export function MllpPorts() {
  const { data: { mllpPorts = [] } = {} } = useHealth()
  if (mllpPorts.length === 0) return null
  return (
    <Section title="Ports for MLLP" ground="wide">
      <ul className="rows stack">
        {sorted(mllpPorts)
          .slice(0, SHOWN)
          .map(({ port, state, error, connections }) => (
            <li key={port} className="faulty">
              <span>
                Port {port} <StatusChip tone={TONES[state]}>{state}</StatusChip>
              </span>
              <span className="quiet">
                {connections === 1 ? '1 connection' : `${wholeNumber(connections)} connections`}
              </span>
              {error !== undefined && <VisibleText as="span" className="bad-text" text={error} max={300} />}
            </li>
          ))}
      </ul>
      {mllpPorts.length > SHOWN && <p className="quiet">… and {wholeNumber(mllpPorts.length - SHOWN)} more.</p>}
    </Section>
  )
}

const sorted = (ports: readonly Port[]): readonly Port[] =>
  ports.toSorted(
    (one, other) => WORST_FIRST.indexOf(one.state) - WORST_FIRST.indexOf(other.state) || one.port - other.port,
  )
