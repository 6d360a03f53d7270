/** The faults of the draft, each a way to its line. */

import { type DocumentFault, lineAt } from '../../../draft/document-faults.ts'
import { StatusChip } from '../../../ui/data/status-chip.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'

export type FaultListProps = Readonly<{
  text: string
  faults: readonly DocumentFault[]
  isChecked: boolean
  onGo(from: number, to: number): void
}>

const MAX_SHOWN = 100

export function FaultList({ text, faults, isChecked, onGo }: FaultListProps) {
  const errors = faults.filter(({ severity }) => severity === 'error').length
  const warnings = faults.length - errors
  return (
    <section className="fault-list" aria-label="Faults">
      <p role="status">
        {!isChecked && faults.length === 0 ? (
          <span className="quiet">Checking …</span>
        ) : faults.length === 0 ? (
          <StatusChip tone="good">No faults</StatusChip>
        ) : (
          <>
            {errors > 0 && <StatusChip tone="bad">{errors === 1 ? '1 fault' : `${errors} faults`}</StatusChip>}{' '}
            {warnings > 0 && (
              <StatusChip tone="warn">{warnings === 1 ? '1 warning' : `${warnings} warnings`}</StatusChip>
            )}{' '}
            <span className="quiet">
              <kbd>F8</kbd> goes to the next
            </span>
          </>
        )}
      </p>
      {faults.length > 0 && (
        <ul>
          {faults.slice(0, MAX_SHOWN).map(({ path, message, from, to, severity }) => (
            <li key={`${path} ${from} ${message}`} className={severity}>
              <button type="button" className="link" onClick={() => onGo(from, to)}>
                Line {lineAt(text, from)}
              </button>{' '}
              {path === undefined || path === '' ? null : <VisibleText code text={path} max={200} />}{' '}
              <VisibleText text={message} />
            </li>
          ))}
          {faults.length > MAX_SHOWN && <li>… and {faults.length - MAX_SHOWN} more.</li>}
        </ul>
      )}
    </section>
  )
}
