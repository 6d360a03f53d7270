/** The changes of a document by their places, as the service compares them. */
import type { Schemas } from '../../../api/client.ts'
import { VisibleText } from '../../../ui/data/visible-text.tsx'

const MOST_CHANGES = 200
const VALUE_CHARACTERS = 300

export function ChangeList({ changes }: Readonly<{ changes: readonly Schemas['DocumentChange'][] }>) {
  return (
    <ul className="change-list">
      {changes.slice(0, MOST_CHANGES).map(({ kind, path, from, to, after }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the changes of one comparison keep their order
        <li key={index} className={kind}>
          <span className="change-kind">{kind}</span>{' '}
          <code>
            <VisibleText text={path} most={VALUE_CHARACTERS} />
          </code>
          {kind === 'moved' && (
            <span className="quiet">
              {' '}
              {after === null || after === undefined ? (
                'to the front'
              ) : (
                <>
                  behind <VisibleText text={after} most={200} />
                </>
              )}
            </span>
          )}
          {from === undefined ? null : (
            <del>
              <VisibleText text={JSON.stringify(from)} most={VALUE_CHARACTERS} />
            </del>
          )}
          {to === undefined ? null : (
            <ins>
              <VisibleText text={JSON.stringify(to)} most={VALUE_CHARACTERS} />
            </ins>
          )}
        </li>
      ))}
      {changes.length > MOST_CHANGES && <li>… and {changes.length - MOST_CHANGES} more.</li>}
    </ul>
  )
}
