/** Faults, or other parts with a reason, as a list: each with its path, if it has one. Nothing without faults. */
import { VisibleText } from '../text/visible-text.tsx'

export type FaultDetailsProps = Readonly<{
  details: readonly Readonly<{ path?: string | undefined; message?: string | undefined }>[]
  /** The others are counted; all are shown by default. */
  most?: number
  /** Makes each path a button. */
  onPlace?: ((path: string) => void) | undefined
}>

export function FaultDetails({ details, most = details.length, onPlace }: FaultDetailsProps) {
  if (details.length === 0) return null
  return (
    <ul className="failure-details">
      {details.slice(0, most).map(({ path = '', message = '' }, index) => (
        // Two details may be the same, and their order is all that they have.
        // biome-ignore lint/suspicious/noArrayIndexKey: the details of one failure never change
        <li key={index}>
          {path === '' ? null : onPlace === undefined ? (
            <code>
              <VisibleText text={path} />
            </code>
          ) : (
            <button type="button" className="link" onClick={() => onPlace(path)}>
              <VisibleText text={path} />
            </button>
          )}{' '}
          <VisibleText text={message} />
        </li>
      ))}
      {details.length > most && <li>… and {details.length - most} more.</li>}
    </ul>
  )
}
