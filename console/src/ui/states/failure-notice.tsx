/** What went wrong, in the words of the service: its sentence, its code, each place, and trying again. */
import { asFailure } from '../../api/api-failure.ts'
import { Button } from '../controls/button.tsx'
import { VisibleText } from '../text/visible-text.tsx'

export type FailureNoticeProps = Readonly<{
  /** Anything that was thrown; nothing is shown without it. */
  failure: unknown
  /** Left out if trying again makes no sense. */
  onRetry?: (() => void) | undefined
  /** Goes to the place of a detail. */
  onOpenPath?: ((path: string) => void) | undefined
  /** Places whose faults are at their fields already. */
  shown?: readonly string[]
}>

const MAX_DETAILS = 50

export function FailureNotice({ failure, onRetry, onOpenPath, shown = [] }: FailureNoticeProps) {
  if (failure === undefined || failure === null) return null
  const { message, code, details: all } = asFailure(failure)
  const details = all.filter(({ path }) => path === undefined || !shown.includes(path))
  return (
    <div className="failure" role="alert">
      <p className="failure-sentence">
        <VisibleText text={message} />
        {code === undefined ? null : <code className="failure-code">{code}</code>}
      </p>
      <FaultDetails details={details} max={MAX_DETAILS} onOpenPath={onOpenPath} />
      {onRetry === undefined ? null : <Button text="Retry" onPress={onRetry} />}
    </div>
  )
}

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
