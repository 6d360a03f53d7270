/** The entries of the mapping in their order, one row for each target: the same as the lines, for everybody. */
import { type KeyboardEvent, memo, type ReactElement, useMemo } from 'react'
import { GridList, GridListItem } from 'react-aria-components/GridList'
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer'
import { StatusChip } from '../../../ui/data/status-chip.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import type { MappingLine } from '../model/mapping-entries.ts'
import { describeResult, type LineResult } from '../model/run-coverage.ts'
import type { ConnectedLine } from '../model/shown-fields.ts'

export type LineFaults = ReadonlyMap<string, readonly string[]>

export type EntryListProps = Readonly<{
  lines: readonly ConnectedLine[]
  faults: LineFaults
  selected: string | undefined
  onSelect(id: string | undefined): void
  /** `Delete` on an entry; undefined if the user may not. */
  onRemove: ((line: ConnectedLine) => void) | undefined
}>

const LAYOUT = { estimatedRowSize: 36 }
const MAX_PATH_CHARACTERS = 300

export const EntryList = memo(function EntryList({ lines, faults, selected, onSelect, onRemove }: EntryListProps) {
  const items = useMemo(
    () => lines.map((connected) => ({ id: connected.line.id, connected, faults: faults.get(connected.line.id) })),
    [lines, faults],
  )
  const keys = useMemo(() => (selected === undefined ? [] : [selected]), [selected])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Delete' || onRemove === undefined || !(event.target instanceof Element)) return
    const id = event.target.closest<HTMLElement>('[data-line]')?.dataset.line
    const found = lines.find(({ line }) => line.id === id)
    if (found === undefined) return
    event.preventDefault()
    onRemove(found)
  }
  return (
    <div onKeyDownCapture={onKeyDown}>
      <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
        <GridList
          aria-label="Entries"
          className="entry-list"
          items={items}
          selectionMode="single"
          selectionBehavior="replace"
          selectedKeys={keys}
          onSelectionChange={(change) => onSelect(change === 'all' ? undefined : [...change].map(String)[0])}
          renderEmptyState={() => (
            <p className="entry row quiet">No entry is shown. Without any, the body is passed on unchanged.</p>
          )}
        >
          {({ id, connected, faults: found }) => (
            <GridListItem id={id} textValue={describeLine(connected)} className="entry-row" data-line={id}>
              {nest(<EntryContent connected={connected} faults={found} />, connected.line)}
            </GridListItem>
          )}
        </GridList>
      </Virtualizer>
    </div>
  )
})

const describeLine = ({ line: { entry, target, within } }: ConnectedLine): string =>
  `${entry.source.slice(0, MAX_PATH_CHARACTERS)} to ${(target.key ?? '').slice(0, MAX_PATH_CHARACTERS)}${
    within === undefined ? '' : ` in each of ${within.items.at(-1)?.slice(0, MAX_PATH_CHARACTERS)}`
  }`

function nest(content: ReactElement, { within }: MappingLine): ReactElement {
  let nested = content
  for (let level = within?.items.length ?? 0; level > 0; level -= 1) nested = <div className="each-box">{nested}</div>
  return nested
}

type EntryContentProps = Readonly<{ connected: ConnectedLine; faults: readonly string[] | undefined }>

function EntryContent({ connected: { line, result }, faults }: EntryContentProps) {
  const { entry, target } = line
  return (
    <div className="entry row">
      <VisibleText as="code" className="breaks" text={entry.source} max={MAX_PATH_CHARACTERS} />
      <span aria-hidden="true" className="quiet">
        →
      </span>
      <code className="breaks">
        {target.key === undefined ? (
          <NoKey form={target.form} />
        ) : (
          <VisibleText text={target.key} max={MAX_PATH_CHARACTERS} />
        )}
      </code>
      {target.transform === undefined ? null : (
        <VisibleText as="span" className="label-chip" text={target.transform.name} max={60} />
      )}
      {target.nested === undefined ? null : <span className="label-chip">{describeNested(target.nested)}</span>}
      {target.fill === undefined ? null : (
        <span className="label-chip">
          default <VisibleText text={target.fill} max={40} />
        </span>
      )}
      {result === undefined ? null : <ResultChip result={result} />}
      {faults?.map((sentence) => (
        <VisibleText
          as="span"
          key={sentence}
          className="entry-fault small-text"
          text={sentence}
          max={MAX_PATH_CHARACTERS}
        />
      ))}
    </div>
  )
}

/** Of a target with `each`. */
export const describeNested = (count: number): string => `each: ${count} ${count === 1 ? 'entry' : 'entries'}`

const NoKey = ({ form }: Readonly<{ form: string }>) => (
  <span className="quiet">{form === 'unknown' ? 'a form that this view does not show' : 'the output itself'}</span>
)

export function ResultChip({ result }: Readonly<{ result: LineResult }>) {
  const tone = result.written === 0 ? 'warn' : result.wrote === 'value' ? 'good' : 'quiet'
  return <StatusChip tone={tone}>{describeResult(result)}</StatusChip>
}
