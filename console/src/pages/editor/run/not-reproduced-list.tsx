/** The parts of a recorded message that a run did not have as the message had them, each with the reason. */
import { VisibleText } from '../../../ui/text/visible-text.tsx'

/** As dry runs and made tests report it. */
export type NotReproduced = Readonly<{ path: string; reason: string }>

export const NotReproducedList = ({ parts }: Readonly<{ parts: readonly NotReproduced[] }>) => (
  <ul className="failure-details">
    {parts.map(({ path, reason }) => (
      <li key={`${path} ${reason}`}>
        <code>
          <VisibleText text={path} />
        </code>{' '}
        <VisibleText text={reason} />
      </li>
    ))}
  </ul>
)
