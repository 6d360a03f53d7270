/** The messages that the picture shows, and what they say of the mapping. */

import { useRef } from 'react'
import type { RecentMessage } from '../../../api/mapping-calls.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { exactTime } from '../../../ui/data/time.tsx'
import { useKey } from '../../../ui/keys/keymap.ts'
import type { MappingSearch } from '../mapping-search.ts'

export type CoverageCounts = Readonly<{ unread: number; unwritten: number; nothing: number }>

export type DataBarProps = Readonly<{
  search: MappingSearch
  /** The filter as typed, before the URL has it. */
  words: string
  onWords(words: string): void
  recent: readonly RecentMessage[]
  /** Why messages cannot be loaded. */
  refused: string | undefined
  hasTyped: boolean
  /** Set once something ran. */
  counts: CoverageCounts | undefined
  /** Fields of the output that its schema requires. */
  required: Readonly<{ all: number; missing: number }>
  onChange(changes: Partial<Record<keyof MappingSearch, string | number | undefined>>): void
  onType(): void
  /** Shows a recorded message; undefined for none. */
  onLoad(message: string | undefined): void
}>

const MORE = [0, 4, 9, 19]
const TYPED = 'typed:'
const TEST = 'test:'

export function DataBar({
  search,
  words,
  onWords,
  recent,
  refused,
  hasTyped,
  counts,
  required,
  onChange,
  onType,
  onLoad,
}: DataBarProps) {
  const filter = useRef<HTMLInputElement>(null)
  useKey('/', 'Filter the fields', () => filter.current?.focus())
  const { message, test, more = 0, show } = search
  const others = recent.some(({ id }) => id === message) ? [] : [message].filter((id) => id !== undefined)
  const choices = [
    { value: '', label: 'None' },
    ...others.map((id) => ({ value: id, label: `Message ${id}` })),
    ...(test === undefined ? [] : [{ value: TEST, label: `Test ${test.slice(0, 60)}` }]),
    ...(hasTyped ? [{ value: TYPED, label: 'Typed message' }] : []),
    ...recent.map((one) => ({ value: one.id, label: formatLabel(one) })),
  ]
  const load = (value: string) => {
    if (value !== TYPED && value !== TEST) onLoad(value === '' ? undefined : value)
  }
  return (
    <div className="stack">
      <search className="filter-bar row" aria-label="Data and fields">
        <SelectField
          label="Message"
          value={hasTyped ? TYPED : (message ?? (test === undefined ? '' : TEST))}
          choices={choices}
          onChange={load}
        />
        {message !== undefined && !hasTyped && (
          <SelectField
            label="Coverage over"
            value={String(more)}
            choices={[...new Set([...MORE, more])].map((count) => ({
              value: String(count),
              label: count === 0 ? 'This message' : `This and ${count} recent ones`,
            }))}
            onChange={(value) => onChange({ more: value === '0' ? undefined : Number(value) })}
          />
        )}
        <TextField
          ref={filter}
          label="Fields"
          type="search"
          placeholder="Part of a name or path"
          keys="/"
          value={words}
          onChange={onWords}
        />
        <Button text="Type a message …" refused={refused} onPress={onType} />
      </search>
      {required.all > 0 && (
        <div className="row">
          {' '}
          <Button
            tone="quiet"
            pressed={show === 'missing'}
            refused={required.missing === 0 && show !== 'missing' ? 'All of them are written.' : undefined}
            onPress={() => onChange({ show: show === 'missing' ? undefined : 'missing' })}
          >
            <strong>
              {required.all - required.missing} of {required.all}
            </strong>{' '}
            required fields are written
          </Button>
        </div>
      )}
      {counts === undefined ? null : (
        <div className="row" role="group" aria-label="Coverage">
          <Count of="unread" count={counts.unread} what="not read" noun="field" show={show} onChange={onChange} />
          <Count
            of="nothing"
            count={counts.nothing}
            what="found nothing"
            noun="source"
            show={show}
            onChange={onChange}
          />
          <Count
            of="unwritten"
            count={counts.unwritten}
            what="not written"
            noun="target"
            show={show}
            onChange={onChange}
          />
        </div>
      )}
    </div>
  )
}

type CountProps = Readonly<{ of: keyof CoverageCounts; count: number; noun: string; what: string }> &
  Readonly<{ show: MappingSearch['show'] }> &
  Pick<DataBarProps, 'onChange'>

const Count = ({ of, count, noun, what, show, onChange }: CountProps) => (
  <Button
    tone="quiet"
    pressed={show === of}
    refused={count === 0 && show !== of ? `There is no ${noun} of this kind.` : undefined}
    onPress={() => onChange({ show: show === of ? undefined : of })}
  >
    <strong>{count.toLocaleString('en')}</strong> {count === 1 ? noun : `${noun}s`} {what}
  </Button>
)

const formatLabel = ({ startedAt, outcome }: RecentMessage): string => `${exactTime(startedAt)} · ${outcome}`
