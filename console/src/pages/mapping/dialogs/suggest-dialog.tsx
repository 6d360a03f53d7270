/** Entries that the service suggests. Each is ticked by the user; none is taken by itself. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SuggestedEntry } from '../../../api/mapping-calls.ts'
import { queries } from '../../../api/queries.ts'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { Checkbox } from '../../../ui/controls/fields.tsx'
import { Empty, QueryView } from '../../../ui/states/states.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'

export type SuggestDialogProps = Readonly<{
  /** As JSON text. */
  request: string
  /** There is a sample or a schema of the output. */
  hasTarget: boolean
  onAdd(suggestions: readonly SuggestedEntry[]): void
  onClose(): void
}>

export function SuggestDialog({ request, hasTarget, onAdd, onClose }: SuggestDialogProps) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const query = useQuery({ ...queries.suggestions(request), staleTime: Number.POSITIVE_INFINITY })
  const all = query.data?.suggestions ?? []
  const chosen = all.filter((one) => ticked.has(entryKey(one)))
  const toggle = (name: string) => setTicked(ticked.symmetricDifference(new Set([name])))
  return (
    <ConfirmDialog
      title="Suggested entries"
      size="large"
      confirm={chosen.length === 1 ? 'Add 1 entry' : `Add ${chosen.length} entries`}
      refused={chosen.length === 0 ? 'Tick an entry first.' : undefined}
      onConfirm={() => onAdd(chosen)}
      onClose={onClose}
    >
      <QueryView query={query} what="Comparing the fields">
        {({ suggestions, cut, notRead = [] }) => (
          <>
            {suggestions.length === 0 ? <NoSuggestions hasTarget={hasTarget} /> : null}
            {suggestions.length > 1 && (
              <Checkbox
                checked={chosen.length === suggestions.length}
                onChange={(on) => setTicked(new Set(on ? suggestions.map(entryKey) : []))}
              >
                All {suggestions.length}
              </Checkbox>
            )}
            <ul className="stack">
              {suggestions.map((one) => (
                <li key={entryKey(one)}>
                  <Checkbox checked={ticked.has(entryKey(one))} onChange={() => toggle(entryKey(one))}>
                    <SuggestionText of={one} />
                  </Checkbox>
                </li>
              ))}
            </ul>
            {cut && <p className="hint">There are more fields than could be compared.</p>}
            {notRead.map(({ part = '', reason = '' }) => (
              <p key={part} className="hint">
                Not compared: <VisibleText text={`${part}: ${reason}`} max={300} />
              </p>
            ))}
          </>
        )}
      </QueryView>
    </ConfirmDialog>
  )
}

const entryKey = ({ source, target }: SuggestedEntry): string => `${source}\n${target}`

const SuggestionText = ({ of: { source, target, to, reason, score } }: Readonly<{ of: SuggestedEntry }>) => (
  <span>
    <VisibleText as="code" className="wrap" text={source} max={300} /> →{' '}
    <VisibleText as="code" className="wrap" text={target} max={300} />{' '}
    {typeof to === 'string' ? null : <span className="label-chip">{to.transform}</span>}
    <span className="hint block">
      {Math.round(score * 100)} %: {reason}
    </span>
  </span>
)

const NoSuggestions = ({ hasTarget }: Readonly<{ hasTarget: boolean }>) => (
  <Empty title="Nothing is suggested">
    {hasTarget
      ? 'No field of the message is like one of the output that has no entry yet.'
      : 'Without a sample or schema of the output, only sources that the message lacks are replaced. Give the fields of the output first.'}
  </Empty>
)
