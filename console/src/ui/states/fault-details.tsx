/** Faults, or other parts with a reason, as a list: each with its path, if it has one. Nothing without faults. */
import { VisibleText } from '../text/visible-text.tsx'

export type FaultDetailsProps = Readonly<{
  details: readonly Readonly<{ path?: string | undefined; message?: string | undefined }>[]
  /** The others are counted; all are shown by default. */
  max?: number
  /** Makes each path a button. */
  onOpenPath?: ((path: string) => void) | undefined
}>

export function FaultDetails({ details, max = details.length, onOpenPath }: FaultDetailsProps) {
  if (details.length === 0) return null
  return (
    <ul className="failure-details">
      {details.slice(0, max).map(({ path = '', message = '' }, index) => (
        // Two details may be the same, and their order is all that they have.
        // biome-ignore lint/suspicious/noArrayIndexKey: the details of one failure never change
        <li key={index}>
          {path === '' ? null : onOpenPath === undefined ? (
            <VisibleText code text={path} />
          ) : (
            <button type="button" className="link" onClick={() => onOpenPath(path)}>
              <VisibleText text={path} />
            </button>
          )}{' '}
          <VisibleText text={message} />
        </li>
      ))}
      {details.length > max && <li>… and {details.length - max} more.</li>}
    </ul>
  )
}
