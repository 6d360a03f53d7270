/** The stages of a message and its calls, with how long each took and where it failed. */

import { useState } from 'react'
import type { MessageRecord } from '../../api/records/record-types.ts'
import { Button } from '../../ui/controls/button.tsx'
import { CallNotes, NotMade } from '../../ui/data/call-notes.tsx'
import { StatusChip } from '../../ui/data/status-chip.tsx'
import { duration } from '../../ui/data/time.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { createWaterfall, type Waterfall as Rows, type WaterfallRow } from './waterfall-rows.ts'

const SHOWN_AT_FIRST = 60

export function Waterfall({ message }: Readonly<{ message: MessageRecord }>) {
  const [all, setAll] = useState(false)
  const waterfall = createWaterfall(message)
  const { rows } = waterfall
  if (rows.length === 0) return <p className="quiet">The message was answered before its first stage.</p>
  const shown = all ? rows : rows.slice(0, SHOWN_AT_FIRST)
  return (
    <>
      <table className="waterfall" aria-label="Stages and calls">
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col" className="end">
              Duration
            </th>
            <th scope="col" className="wide-only">
              <span className="visually-hidden">When</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a record never change
            <tr key={index} className={`waterfall-${row.kind}`}>
              <th scope="row">
                <RowName row={row} />
              </th>
              <td className="end">{duration(row.ms)}</td>
              <td className="waterfall-cell wide-only">
                <Bar row={row} of={waterfall} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <Button onPress={() => setAll(true)}>Show all {rows.length.toLocaleString('en')} rows</Button>
      )}
      {message.callsOmitted !== undefined && (
        <p className="quiet">{message.callsOmitted.toLocaleString('en')} more calls were not recorded.</p>
      )}
      <NotMade requests={message.notMade} />
    </>
  )
}

function RowName({ row: { kind, name, failed, call } }: Readonly<{ row: WaterfallRow }>) {
  if (kind === 'stage' || call === undefined) {
    return (
      <>
        {name} {failed && <StatusChip tone="bad">failed here</StatusChip>}
      </>
    )
  }
  const { method, target, status, fault, remark } = call
  return (
    <>
      <VisibleText text={name} max={80} />{' '}
      {fault === undefined ? (
        status !== undefined && <StatusChip tone={failed ? 'bad' : 'good'}>{status}</StatusChip>
      ) : (
        <StatusChip tone="bad">{fault}</StatusChip>
      )}
      <div className="quiet breaks">
        <code>
          {method} <VisibleText text={target} max={300} />
        </code>
        {remark === undefined ? null : <VisibleText as="div" text={remark} />}
        <CallNotes call={call} />
      </div>
    </>
  )
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)}%`

function Bar({ row: { kind, startMs, ms, failed }, of: { totalMs } }: Readonly<{ row: WaterfallRow; of: Rows }>) {
  const fill = failed ? 'var(--bad)' : kind === 'call' ? 'var(--edge)' : 'var(--accent)'
  return (
    <svg className="block" fill={fill} aria-hidden="true" width="100%" height="14">
      <rect x="0" y="6" width="100%" height="2" fill="var(--line)" />
      <rect x={percent(Math.min(startMs, totalMs), totalMs)} y="2" width={percent(ms, totalMs)} height="10" rx="1" />
      {/* Even the shortest is seen. */}
      <rect x={percent(Math.min(startMs, totalMs), totalMs)} y="2" width="2" height="10" />
    </svg>
  )
}
