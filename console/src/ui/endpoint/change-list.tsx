/** What differs between two documents, by path, as the service says it. */
import type { Schemas } from '../../api/client.ts'
import { StatusChip, type Tone } from '../data/status-chip.tsx'
import { VisibleText } from '../text/visible-text.tsx'

type DocumentChange = Schemas['DocumentChange']

const TONES: Readonly<Record<DocumentChange['kind'], Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'warn',
  moved: 'quiet',
}
const MAX_CHANGES = 200
const MAX_VALUE_CHARACTERS = 300

export function ChangeList({ changes }: Readonly<{ changes: readonly DocumentChange[] }>) {
  if (changes.length === 0) return <p className="quiet">The documents say the same.</p>
  return (
    <ul className="change-list stack">
      {changes.slice(0, MAX_CHANGES).map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list of one comparison never changes
        <li key={index} className="row">
          <StatusChip tone={TONES[change.kind]}>{change.kind}</StatusChip>
          <VisibleText code text={change.path} max={MAX_VALUE_CHARACTERS} />
          <Values {...change} />
        </li>
      ))}
      {changes.length > MAX_CHANGES && <li>… and {(changes.length - MAX_CHANGES).toLocaleString('en')} more.</li>}
    </ul>
  )
}

function Values({ kind, from, to, after }: DocumentChange) {
  if (kind === 'moved') {
    return (
      <span className="quiet">{after === null || after === undefined ? 'to the first place' : `after ${after}`}</span>
    )
  }
  return (
    <span className="change-values row">
      {kind !== 'added' && (
        <del>
          <VisibleText text={shortJson(from)} max={MAX_VALUE_CHARACTERS} />
        </del>
      )}
      {kind !== 'removed' && (
        <ins>
          <VisibleText text={shortJson(to)} max={MAX_VALUE_CHARACTERS} />
        </ins>
      )}
    </span>
  )
}

/** A value of a document or a test in one line. */
export const shortJson = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))
