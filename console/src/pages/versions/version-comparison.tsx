/** Two versions: what differs by path, as the service says it, and both documents side by side. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { readVersion, type Version } from '../../api/changes/version-calls.ts'
import { queries } from '../../api/queries.ts'
import { answerKey, keyed } from '../../api/query-keys.ts'
import { layOutDocument } from '../../draft/document-layout.ts'
import { LazyDiffView } from '../../ui/code/lazy-views.tsx'
import { VersionRange } from '../../ui/data/versions.tsx'
import { ChangeList } from '../../ui/endpoint/change-list.tsx'
import { QueryView } from '../../ui/states/states.tsx'

type VersionComparisonProps = Readonly<{
  id: string
  versions: readonly Version[]
  from: number
  to: number
  onChange(changes: Readonly<{ from?: number; to?: number }>): void
}>

export function VersionComparison({ id, versions, from, to, onChange }: VersionComparisonProps) {
  const difference = useQuery({ ...queries.versionDiff(id, from, to), placeholderData: keepPreviousData })
  const before = useVersionText(id, from)
  const after = useVersionText(id, to)
  const choices = versions
    .filter(({ method }) => method !== 'delete')
    .map(({ version, origin: { note } }) => ({
      value: String(version),
      label: note === undefined ? `Version ${version}` : `Version ${version} – ${note.slice(0, 60)}`,
    }))
  return (
    <section className="panel" aria-labelledby="comparison">
      <VersionRange id="comparison" from={from} to={to} choices={choices} onChange={onChange} />
      <QueryView query={difference} what="Comparing">
        {({ changes }) => <ChangeList changes={changes} />}
      </QueryView>
      <QueryView query={before}>
        {(earlier) => (
          <QueryView query={after}>
            {(later) => (
              <LazyDiffView
                before={{ title: `Version ${from}`, text: earlier }}
                after={{ title: `Version ${to}`, text: later }}
              />
            )}
          </QueryView>
        )}
      </QueryView>
    </section>
  )
}

/** A version never changes. Laid out as in the editor, without the fields that the service sets itself. */
const useVersionText = (id: string, version: number) =>
  useQuery({
    ...keyed(answerKey<string>('version-text', 'of', id, version), async ({ signal }) =>
      layOutDocument((await readVersion(id, version, signal)) ?? ''),
    ),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
